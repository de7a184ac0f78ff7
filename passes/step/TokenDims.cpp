//===- TokenDims.cpp - where a function has its tokens --------------------===//
#include "passes/step/TokenDims.h"
#include "dialect/Rows.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mp;

std::optional<int64_t> TokenDims::placesOf(Operation *op,
                                           unsigned operand) const {
  Value value = op->getOperand(operand);
  if (isToken(value))
    return std::nullopt;
  if (auto scan = dyn_cast<ScanOp>(op)) {
    if (operand < scan.getCarried().size())
      return std::nullopt;
    return scan.getDim();
  }
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size != count())
      continue;
    auto followed = followRows(op, operand, dim);
    if (followed && isAt(op, *followed))
      return dim;
  }
  return std::nullopt;
}

bool TokenDims::isAt(Operation *op, ArrayRef<int64_t> found) const {
  return llvm::all_of(llvm::zip_equal(op->getResults(), found), [&](auto pair) {
    auto [result, dim] = pair;
    return isToken(result) && of(result) == dim;
  });
}

LogicalResult TokenDims::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(visit(&op)))
      return failure();
  return success();
}

LogicalResult TokenDims::visit(Operation *op) {
  if (auto region = dyn_cast<AutocastOp>(op))
    return visitRegion(region);
  if (auto scan = dyn_cast<ScanOp>(op))
    return visitScan(scan);
  if (llvm::none_of(op->getOperands(), [&](Value v) { return isToken(v); }))
    return success();
  if (auto attention = dyn_cast<ScaledDotProductAttentionOp>(op))
    return visitAttention(attention);
  return visitRows(op, op->getOpOperands());
}

LogicalResult TokenDims::visitRows(Operation *op,
                                   MutableArrayRef<OpOperand> operands) {
  for (OpOperand &operand : operands) {
    if (!isToken(operand.get()))
      continue;
    auto found = followRows(op, operand.getOperandNumber(), of(operand.get()));
    if (!found)
      return op->emitOpError()
             << "computes a token from others: in a model that is decoded, "
                "only causal attention and loops look at earlier tokens";
    for (auto [result, dim] : llvm::zip_equal(op->getResults(), *found))
      if (!dims.try_emplace(result, dim).second && of(result) != dim)
        return op->emitOpError() << "has tokens in two dimensions";
  }
  return success();
}

LogicalResult TokenDims::visitAttention(ScaledDotProductAttentionOp op) {
  bool keys = isToken(op.getKey()), values = isToken(op.getValue());
  if (!keys && !values) {
    // The keys are another text's.
    if (op.getCausal() || op.getWindow() || op.getSlopes())
      return op.emitOpError("has keys that are no tokens of the text, so "
                            "that none is earlier or later");
    return visitRows(op, op->getOpOperands().take_front(3));
  }
  if (!op.getCausal() || op.getQueryOffset().value_or(0) != 0)
    return op.emitOpError("looks at later tokens: only causal attention can "
                          "be decoded");
  if (op.getLengths())
    return op.emitOpError("has lengths, which decoding cannot keep");
  for (Value operand : {op.getQuery(), op.getKey(), op.getValue()})
    if (!isToken(operand) || of(operand) != 1)
      return op.emitOpError("has tokens that are not in dimension 1 of "
                            "query, key and value");
  if (op.getMask() && isToken(op.getMask()))
    return op.emitOpError("has a mask that depends on the tokens");
  for (Value result : op->getResults())
    dims[result] = 1;
  return success();
}

LogicalResult TokenDims::visitRegion(AutocastOp op) {
  Block &body = op.getBody().front();
  if (failed(visitBlock(body)))
    return failure();
  for (auto [result, yielded] :
       llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
    if (isToken(yielded))
      dims[result] = of(yielded);
  return success();
}

LogicalResult TokenDims::visitScan(ScanOp op) {
  SetVector<Value> read;
  getUsedValuesDefinedAbove(op.getBody(), read);
  auto holdsTokens = [&](Value value) { return isToken(value); };
  if (llvm::any_of(read, holdsTokens) ||
      llvm::any_of(op.getCarried(), holdsTokens))
    return op.emitOpError("has all tokens in each of its time steps: a loop "
                          "that is decoded has one, as a slice");
  if (llvm::none_of(op.getSliced(), holdsTokens))
    return success();
  if (op.getReverse())
    return op.emitOpError("begins with the last token: only a loop from the "
                          "first on can be decoded");
  int64_t dim = op.getDim();
  for (Value value : op.getSliced())
    if (isToken(value) && of(value) != dim)
      return op.emitOpError()
             << "runs along dimension " << dim
             << ", and the tokens are in dimension " << of(value);
  size_t carried = op.getCarried().size();
  for (Value result : op->getResults().take_front(carried))
    if (!result.use_empty())
      return op.emitOpError("hands on what it carries after the last token, "
                            "which a text that is continued does not have");
  for (Value result : op->getResults().drop_front(carried))
    dims[result] = dim;
  loops.insert(op);
  return success();
}
