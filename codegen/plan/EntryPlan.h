//===- EntryPlan.h - from a function of kernels to steps ------------------===//
#ifndef MP_CODEGEN_PLAN_ENTRYPLAN_H
#define MP_CODEGEN_PLAN_ENTRYPLAN_H

#include "codegen/Backend.h"
#include "dialect/Mp.h"
#include "program/Program.h"
#include "llvm/ADT/StringMap.h"

namespace mp {

/// What all entry points of a Program share.
struct ProgramBuilder {
  Program program;
  llvm::StringMap<uint32_t> variables, kernels;

  /// The index of a kernel by its symbol, added where it is new.
  uint32_t kernel(llvm::StringRef symbol, mlir::Operation *op,
                  Backend &backend);
};

/// Steps, places and lifetimes of a function that holds reads, kernels, views,
/// writes and a return. `emitted` has one entry a kernel, in order. A result
/// that a variable is given is computed in the variable's own memory where
/// nothing reads the old value later; else it is copied at the end. Fails with
/// a diagnostic where a step would read what none before it writes.
llvm::FailureOr<Entry> planEntry(mlir::func::FuncOp function,
                                 llvm::ArrayRef<EmittedKernel> emitted,
                                 ProgramBuilder &builder, Backend &backend);

} // namespace mp

#endif // MP_CODEGEN_PLAN_ENTRYPLAN_H
