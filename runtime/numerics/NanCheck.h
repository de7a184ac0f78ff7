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

/// The known facts about a value's elements.
struct ValueRange {
  std::string name; ///< "mp.exp", "input 'x'", "variable 'w'"
  Location source;
  std::string phase; ///< "input", "variable", "forward", "backward", "update"
  TensorType type;
  bool isFinite = true;
  /// Whether NaN is among them; known of records that have a magnitude.
  std::optional<bool> hasNan = {};
  std::optional<uint64_t> nonFinite = {};         ///< how many
  std::optional<double> least = {}, largest = {}; ///< of the finite ones
  std::optional<double> magnitude = {}; ///< the largest, if all are finite
  std::optional<int64_t> row = {};      ///< the first that is not finite

  /// "3 of 128 not finite, the others in [-1, 65504]", "at most 65504"
  std::string str() const;
};

/// The value at which a step stops being finite.
struct NonFiniteOrigin {
  int64_t step = 0; ///< 1 is the first
  ValueRange value;
  std::vector<ValueRange> operands = {};
  /// The samples of the step as text: "samples 32 to 63 of epoch 1, which are
  /// ..."
  std::string samplesText = {};
  std::vector<int64_t> samples = {}; ///< all of them, counted from 0
  /// The sample that the first non-finite row belongs to.
  std::optional<int64_t> sample = {};

  /// "mp.exp at net.mlir:7:8 (backward): ", then what is known of the value and
  /// its operands.
  std::string str() const;
};

/// Whether the result holds a record.
bool isOfRecord(const Entry &entry, unsigned result);
/// Reads the results that hold records.
std::vector<ValueRange> readRecords(const Entry &entry,
                                    Executable::Results results);

/// The range of a tensor on the host, without a name.
ValueRange rangeOf(const TensorType &type, llvm::ArrayRef<char> bytes);

/// Whether any record has a value that is not finite; `applied` says whether
/// the step applied its updates. Allocates nothing.
bool anyNonFinite(const Entry &entry, Executable::Results results,
                  bool applied);

/// The first value in execution order that is not finite although its operands
/// are, among those that lead to a flag or a write of the step; among all
/// values if `isCertain` says that something is wrong in this step.
std::optional<NonFiniteOrigin>
findNonFiniteOrigin(const Entry &entry, llvm::ArrayRef<ValueRange> values,
                    bool applied, bool isCertain);

/// The variable of the first state record that is not finite, in a step that
/// applied its updates; "" if there is none.
std::string firstBrokenState(const Entry &entry, Executable::Results results);

/// One line of offenders.jsonl, without a line feed.
std::string toJson(const NonFiniteOrigin &origin);
/// Every record of a step, as a table for the user and as values.json.
std::string toText(llvm::ArrayRef<ValueRange> values);
std::string toJson(int64_t step, llvm::ArrayRef<ValueRange> values);

} // namespace mp

#endif // MP_RUNTIME_NUMERICS_NANCHECK_H
