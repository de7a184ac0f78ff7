//===- DescribeGraph.h - a recipe's graph as it was written -----*- C++ -*-===//
#ifndef MP_CODEGEN_PLAN_DESCRIBEGRAPH_H
#define MP_CODEGEN_PLAN_DESCRIBEGRAPH_H

#include "dialect/ops/Recipe.h"
#include "program/Program.h"

namespace mp {

/// Describes a recipe, the policy of its autocast, and its function. To be
/// called after calls are inlined and before any other pass: what passes make
/// of the graph depends on settings, which are compared by themselves. `policy`
/// names the policy in place of the recipe's; empty: the recipe's.
std::vector<SourceOp> describeGraph(TrainOp recipe, llvm::StringRef policy);

} // namespace mp

#endif // MP_CODEGEN_PLAN_DESCRIBEGRAPH_H
