//===- EntryPlan.h - from a function of kernels to steps ------------------===//
#ifndef MP_CODEGEN_PLAN_ENTRYPLAN_H
#define MP_CODEGEN_PLAN_ENTRYPLAN_H

#include "codegen/Backend.h"
#include "dialect/Mp.h"
#include "program/Program.h"
#include "llvm/ADT/StringMap.h"

namespace mp {

/// The parts that all entry points of a Program share.
struct ProgramBuilder {
  Program program;
  llvm::StringMap<uint32_t> variables, kernels;

  /// The index of a kernel by its symbol, added where it is new.
  uint32_t kernel(llvm::StringRef symbol, mlir::Operation *op,
                  Backend &backend);
};

/// Returns the code of a function's kernels, in their order.
using CodeOf =
    llvm::function_ref<llvm::ArrayRef<EmittedKernel>(mlir::func::FuncOp)>;

/// Plans steps, places and lifetimes of a function that holds reads, kernels,
/// views, writes and a return, and calls bodies of loops. A result that is
/// written to a variable is computed in the variable's own memory if nothing
/// reads the old value later; else it is copied at the end. Fails with a
/// diagnostic if a step would read memory that no earlier step writes.
llvm::FailureOr<Entry> planEntry(mlir::func::FuncOp function, CodeOf codeOf,
                                 ProgramBuilder &builder, Backend &backend);

} // namespace mp

#endif // MP_CODEGEN_PLAN_ENTRYPLAN_H
