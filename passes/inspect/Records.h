//===- Records.h - results that tell how large values are -------*- C++ -*-===//
#ifndef MP_PASSES_INSPECT_RECORDS_H
#define MP_PASSES_INSPECT_RECORDS_H

#include "dialect/Mp.h"

namespace mp {

/// The value that a record describes.
struct RecordedValue {
  std::string op; ///< "mp.exp", "input 'x'", "variable 'w'"
  mlir::Location location;
  /// "input", "variable", "forward", "backward" or "update".
  llvm::StringRef phase;
  mlir::RankedTensorType type;
  /// Records of the values that the value is computed from.
  llvm::SmallVector<int64_t> operands = {};
  /// Whether it may be infinite: a mask is made with it, or another step has
  /// made it.
  bool meant = false;
  /// Whether a step is skipped if it is not finite, or the value is state.
  bool watched = false;
  /// Whether it exists only if the step is not skipped.
  bool guarded = false;
};

/// Adds records to a function: results by the name "record.N.FACT", and in
/// `mp.records` the value that record N describes.
class Records {
public:
  explicit Records(mlir::func::FuncOp function) : function(function) {}

  int64_t add(const RecordedValue &value);
  /// `scalar` is a fact of a record: "magnitude", "nonfinite", "least",
  /// "largest" or "row".
  void addFact(int64_t record, llvm::StringRef fact, mlir::Value scalar);
  void finish();

private:
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Attribute> records;
  llvm::SmallVector<std::pair<std::string, mlir::Value>> facts;
};

} // namespace mp

#endif // MP_PASSES_INSPECT_RECORDS_H
