//===- AutocastPropagate.h - casts by propagation through the graph -------===//
#ifndef MP_PASSES_AUTOCAST_AUTOCASTPROPAGATE_H
#define MP_PASSES_AUTOCAST_AUTOCASTPROPAGATE_H

#include "passes/autocast/AutocastReport.h"
#include "passes/autocast/AutocastScopes.h"

namespace mp {

/// Decides for the whole graph which ops run low, as TensorFlow's grappler
/// does, and casts where the colour changes. The graph may be forward alone or
/// forward and backward. Results of a function keep their types.
llvm::LogicalResult castByColour(mlir::func::FuncOp function,
                                 const AutocastScopes &scopes,
                                 AutocastReport &report);

} // namespace mp

#endif // MP_PASSES_AUTOCAST_AUTOCASTPROPAGATE_H
