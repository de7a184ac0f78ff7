//===- Rows.cpp - which rows a row is computed from -----------------------===//
#include "dialect/Rows.h"
#include "dialect/Expression.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mp;

using Dims = SmallVector<int64_t, 2>;

/// Operands are aligned at the end, and a dimension of size one is repeated.
static std::optional<int64_t> followBroadcast(Value operand, int64_t dim,
                                              Type result) {
  auto from = tensorType(operand);
  auto to = cast<RankedTensorType>(result);
  int64_t at = dim + to.getRank() - from.getRank();
  if (to.getDimSize(at) != from.getDimSize(dim))
    return std::nullopt;
  return at;
}

static std::optional<int64_t> followReduction(ReductionOpInterface op,
                                              int64_t dim) {
  if (llvm::is_contained(op.getDims(), dim))
    return std::nullopt;
  if (op.getKeepdim())
    return dim;
  return dim - llvm::count_if(op.getDims(),
                              [&](int64_t reduced) { return reduced < dim; });
}

/// Follows the ops that an op decomposes into, which are dropped again.
static std::optional<Dims> followDecomposition(DecomposableOpInterface op,
                                               unsigned operand, int64_t dim) {
  Block block;
  ImplicitLocOpBuilder b(op.getLoc(), op.getContext());
  b.setInsertionPointToEnd(&block);
  for (Value each : op->getOperands())
    block.addArgument(each.getType(), op.getLoc());
  DenseMap<Value, int64_t> dims{{block.getArgument(operand), dim}};
  // An op may look at its own operands, too.
  Operation *copy = op->clone();
  copy->setOperands(block.getArguments());
  llvm::scope_exit erase([&] { copy->destroy(); });
  SmallVector<Value> wide;
  for (Value argument : block.getArguments())
    wide.push_back(Expression(b, argument).wide());
  SmallVector<Value> results =
      cast<DecomposableOpInterface>(copy).decompose(b, wide);
  for (Operation &each : block)
    for (OpOperand &use : each.getOpOperands()) {
      auto known = dims.find(use.get());
      if (known == dims.end())
        continue;
      auto followed =
          followRows(&each, use.getOperandNumber(), known->getSecond());
      if (!followed)
        return std::nullopt;
      for (auto [result, at] : llvm::zip_equal(each.getResults(), *followed))
        if (!dims.try_emplace(result, at).second && dims.at(result) != at)
          return std::nullopt;
    }
  Dims found;
  for (Value result : results) {
    auto known = dims.find(result);
    if (known == dims.end())
      return std::nullopt;
    found.push_back(known->getSecond());
  }
  return found;
}

std::optional<SmallVector<int64_t, 2>>
mp::followRows(Operation *op, unsigned operand, int64_t dim) {
  auto composite = dyn_cast<DecomposableOpInterface>(op);
  if (composite && !isa<RowOpInterface>(op))
    return followDecomposition(composite, operand, dim);
  Dims found;
  for (Value result : op->getResults()) {
    std::optional<int64_t> at;
    if (auto rows = dyn_cast<RowOpInterface>(op))
      at = rows.followRows(operand, dim);
    else if (auto scalar = dyn_cast<ScalarOpInterface>(op);
             scalar && !scalar.takesIndex())
      at = followBroadcast(op->getOperand(operand), dim, result.getType());
    else if (auto reduction = dyn_cast<ReductionOpInterface>(op))
      at = followReduction(reduction, dim);
    if (!at)
      return std::nullopt;
    found.push_back(*at);
  }
  return found;
}
