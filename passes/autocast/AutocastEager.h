//===- AutocastEager.h - casts op by op -------------------------*- C++ -*-===//
#ifndef MP_PASSES_AUTOCAST_AUTOCASTEAGER_H
#define MP_PASSES_AUTOCAST_AUTOCASTEAGER_H

#include "passes/autocast/AutocastReport.h"
#include "passes/autocast/AutocastScopes.h"

namespace mp {

/// Casts the operands of a function's ops, in order, each by the policy's entry
/// for the op alone. Fails with a diagnostic at the op.
llvm::LogicalResult castEagerly(mlir::func::FuncOp function,
                                const AutocastScopes &scopes,
                                AutocastReport &report);

} // namespace mp

#endif // MP_PASSES_AUTOCAST_AUTOCASTEAGER_H
