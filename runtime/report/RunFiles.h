//===- RunFiles.h - the files of a run folder -------------------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_RUNFILES_H
#define MP_RUNTIME_REPORT_RUNFILES_H

#include "runtime/report/Timeline.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>

namespace mp {

/// The content of a run folder that a page shows.
struct RunFiles {
  /// Errors: no run folder; a file that is not JSON of its kind, with its name
  /// and line.
  static llvm::Expected<RunFiles> read(llvm::StringRef folder);

  std::string folder;

  // metrics.jsonl
  Timeline steps;
  /// First and last step of each row of skipped steps; the first `maxListed`.
  std::vector<std::pair<int64_t, int64_t>> skips;
  uint64_t furtherSkips = 0; ///< number of further rows

  Timeline evaluations; ///< evaluations.jsonl

  // summary.json, plan.json, casts.json
  std::optional<llvm::json::Object> summary, plan;
  std::optional<llvm::json::Array> casts;

  // ledger.jsonl
  std::optional<llvm::json::Object> ledger; ///< its last line
  Timeline losses; ///< shares of elements, from all lines

  // non-finite.jsonl
  /// Steps whose numbers stopped being finite at one place.
  struct Finding {
    llvm::json::Object first;
    uint64_t steps = 1;
    uint64_t last; ///< step
  };
  std::vector<Finding> findings; ///< the first `maxListed`
  uint64_t furtherFindings = 0;  ///< number of steps at further places

  // values.json, confusion.json
  std::optional<llvm::json::Object> values, confusion;

  /// Notes about the files, such as that one ends in half a line.
  std::vector<std::string> notes;

  static constexpr size_t maxListed = 50;

private:
  void addSkip(int64_t step);
  llvm::Error readMetrics();
  llvm::Error readEvaluations();
  llvm::Error readLedger();
  llvm::Error readFindings();
  llvm::Error compareSummary();
  std::optional<int64_t> lastSkip;
};

/// Returns the text of a field, or "".
llvm::StringRef textOf(const llvm::json::Object &object, llvm::StringRef key);
/// Returns the number of a field, or NaN.
double numberOf(const llvm::json::Object &object, llvm::StringRef key);
/// Returns the count in a field, or 0.
uint64_t countOf(const llvm::json::Object &object, llvm::StringRef key);
/// Returns the objects of a list in a field, without elements of other kinds.
std::vector<const llvm::json::Object *>
objectsOf(const llvm::json::Object &object, llvm::StringRef key);
std::vector<const llvm::json::Object *>
objectsOf(const llvm::json::Array &array);

} // namespace mp

#endif // MP_RUNTIME_REPORT_RUNFILES_H
