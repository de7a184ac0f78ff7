//===- LoopBodies.h - the functions that loops call -------------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_LOOPBODIES_H
#define MP_PASSES_ANALYSIS_LOOPBODIES_H

#include "dialect/ops/Loop.h"
#include "dialect/ops/Scan.h"

namespace mp {

/// Says why a scan cannot become a loop and has to be unrolled, or "".
llvm::StringRef whyNoLoop(ScanOp scan);

/// Lets a scan run over no value whose slices it does not use.
void dropUnusedSlices(ScanOp scan);

/// Adds the body of a loop after a function: private, empty but for its
/// arguments.
mlir::func::FuncOp addLoopBody(mlir::func::FuncOp after,
                               mlir::Location location,
                               mlir::TypeRange arguments,
                               mlir::TypeRange results);
/// Adds a copy of the body of a loop after it.
mlir::func::FuncOp copyLoopBody(mlir::func::FuncOp body);

/// Returns the functions that loops call.
llvm::DenseSet<mlir::Operation *> calledByLoops(mlir::ModuleOp module);

/// Drops bodies that no loop calls.
void dropUnusedBodies(mlir::ModuleOp module);

/// Whether a function is the body of a loop: no entry point, but a part of the
/// functions that call it.
bool isLoopBody(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_LOOPBODIES_H
