//===- Records.h - results that tell how large values are -------*- C++ -*-===//
#ifndef MP_PASSES_INSPECT_RECORDS_H
#define MP_PASSES_INSPECT_RECORDS_H

#include "dialect/Mp.h"

namespace mp {

/// What a record is of.
struct RecordedValue {
  std::string op; ///< "mp.exp", "input 'x'", "variable 'w'"
  mlir::Location location;
  /// "input", "variable", "forward", "backward" or "update".
  llvm::StringRef phase;
  mlir::RankedTensorType type;
  /// Records of what the value is computed from.
  llvm::SmallVector<int64_t> operands = {};
  /// It may be infinite: a mask is made with it, or another step has made it.
  bool meant = false;
  /// A step is skipped where it is not finite, or the value is state.
  bool watched = false;
  /// It exists only where the step is not skipped.
  bool guarded = false;
};

/// Adds records to a function: results by the name "record.N.FACT", and what
/// record N is of in `mp.records`.
class Records {
public:
  explicit Records(mlir::func::FuncOp function) : function(function) {}

  int64_t add(const RecordedValue &value);
  /// `scalar` says a fact of a record: "magnitude", "nonfinite", "least",
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
