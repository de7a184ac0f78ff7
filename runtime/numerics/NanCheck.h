//===- NanCheck.h - the first value that is not finite ----------*- C++ -*-===//
//
// Finds the non-finite origin of a step from its records (Entry::records).
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_NUMERICS_NANCHECK_H
#define MP_RUNTIME_NUMERICS_NANCHECK_H

#include "runtime/Session.h"

namespace llvm::json {
class OStream;
}

namespace mp {

/// What a step recorded about the elements of a value.
struct ValueRange {
  std::string name; ///< "mp.exp", "input 'x'", "variable 'w'"
  Location source;
  std::string phase; ///< "input", "variable", "forward", "backward", "update"
  TensorType type;
  bool isFinite = true;
  /// Whether an element is NaN. Records with a magnitude have it.
  std::optional<bool> hasNan = {};
  std::optional<uint64_t> nonFinite = {};         ///< how many
  std::optional<double> least = {}, largest = {}; ///< of the finite ones
  std::optional<double> magnitude = {}; ///< the largest, if all are finite
  std::optional<int64_t> row = {};      ///< the first that is not finite

  /// "3 of 128 not finite, the others in [-1, 65504]", "at most 65504"
  std::string str() const;
};

/// The first value of a step that is not finite.
struct NonFiniteOrigin {
  int64_t step = 0; ///< counted from 1
  ValueRange value;
  std::vector<ValueRange> operands = {};
  /// The samples of the data in the step: "samples 32 to 63 of epoch 1, which
  /// are ..."
  std::string samplesText = {};
  std::vector<int64_t> samples = {}; ///< the same samples, counted from 0
  /// The sample whose row is the first that is not finite.
  std::optional<int64_t> sample = {};

  /// Formats the origin: "mp.exp at net.mlir:7:8 (backward): ", followed by its
  /// range, those of its operands, and the samples.
  std::string str() const;
};

/// Returns whether a result belongs to a record.
bool isOfRecord(const Entry &entry, unsigned result);
/// Returns the ranges of all records of a run.
std::vector<ValueRange> readRecords(const Entry &entry,
                                    Executable::Results results);

/// Returns the range of a tensor on the host, without a name.
ValueRange rangeOf(const TensorType &type, llvm::ArrayRef<char> bytes);

/// Returns whether any record is of a non-finite value. `applied`: whether the
/// step applied its updates. Allocates nothing.
bool anyNonFinite(const Entry &entry, Executable::Results results,
                  bool applied);

/// Returns the first value in execution order that is not finite although its
/// operands are. Values that lead to the check that skipped the step, or to a
/// write, are searched first. If there is no such value and `isCertain`, all
/// are searched.
std::optional<NonFiniteOrigin>
findNonFiniteOrigin(const Entry &entry, llvm::ArrayRef<ValueRange> values,
                    bool applied, bool isCertain);

/// Returns the variable of the first record of state that is not finite in a
/// step that applied its updates, or "".
std::string firstBrokenState(const Entry &entry, Executable::Results results);

/// Returns one line of non-finite.jsonl, without a line feed.
std::string toJson(const NonFiniteOrigin &origin);
/// Format every record of a step, as a table and as values.json.
std::string toText(llvm::ArrayRef<ValueRange> values);
std::string toJson(int64_t step, llvm::ArrayRef<ValueRange> values);

} // namespace mp

#endif // MP_RUNTIME_NUMERICS_NANCHECK_H
