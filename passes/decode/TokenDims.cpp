//===- TokenDims.cpp - where a function has its tokens --------------------===//
#include "passes/decode/TokenDims.h"
#include "dialect/Rows.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// Returns the op that puts a constant before all tokens but the last one, of
/// which a slice is the first half; or null.
static PadOp shiftOf(SliceOp slice, int64_t dim) {
  auto from = slice.getInput().getType(), to = slice.getType();
  if (!slice->hasOneUse() || dim >= from.getRank())
    return {};
  for (int64_t each = 0; each < from.getRank(); ++each)
    if (slice.getOffsets()[each] != 0 || slice.strideOf(each) != 1 ||
        to.getDimSize(each) != from.getDimSize(each) - (each == dim))
      return {};
  auto pad = dyn_cast<PadOp>(*slice->user_begin());
  if (!pad)
    return {};
  for (int64_t each = 0; each < from.getRank(); ++each)
    if (pad.getLow()[each] != (each == dim) || pad.getHigh()[each] != 0 ||
        pad.interiorOf(each) != 0)
      return {};
  return pad;
}

static bool leadsToShifts(Value tokens, int64_t dim) {
  return !tokens.use_empty() &&
         llvm::all_of(tokens.getUses(), [&](OpOperand &use) {
           Operation *op = use.getOwner();
           if (auto slice = dyn_cast<SliceOp>(op))
             return bool(shiftOf(slice, dim));
           auto followed = followRows(op, use.getOperandNumber(), dim);
           return followed && op->getNumResults() == 1 &&
                  elementType(op->getResult(0)).isInteger() &&
                  leadsToShifts(op->getResult(0), followed->front());
         });
}

bool TokenDims::isShifted(BlockArgument tokens) {
  return leadsToShifts(tokens, 1);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

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

LogicalResult TokenDims::place(Operation *op, Value result, Place found) {
  auto [known, isNew] = places.try_emplace(result, found);
  if (isNew || known->second == found)
    return success();
  if (known->second.dim != found.dim)
    return op->emitOpError() << "has tokens in two dimensions";
  return op->emitOpError()
         << "computes a token from itself and from the one before: in a model "
            "that is decoded, only causal attention and loops look at earlier "
            "tokens";
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
  if (auto slice = dyn_cast<SliceOp>(op))
    if (PadOp shift = shiftOf(slice, of(slice.getInput()))) {
      shifts.insert(shift);
      return place(op, slice.getResult(), places.at(slice.getInput()));
    }
  if (shifts.contains(op))
    return visitShift(cast<PadOp>(op));
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
    bool isShifted = places.at(operand.get()).isShifted;
    for (auto [result, dim] : llvm::zip_equal(op->getResults(), *found))
      if (failed(place(op, result, {dim, isShifted})))
        return failure();
  }
  return success();
}

LogicalResult TokenDims::visitShift(PadOp op) {
  auto [dim, isShifted] = places.at(op.getInput());
  if (isShifted)
    return op.emitOpError("shifts the text a second time: a token that is "
                          "decoded is computed from the one before");
  return place(op, op.getResult(), {dim, true});
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
      // A dimension of one token is like any other of size one.
      return op.emitOpError(
          count() == 1 ? "is in a network of one token, which cannot write "
                         "text: one that can takes two tokens or more"
                       : "has tokens that are not in dimension 1 of "
                         "query, key and value");
  if (op.getMask() && isToken(op.getMask()))
    return op.emitOpError("has a mask that depends on the tokens");
  for (Value operand : {op.getQuery(), op.getKey(), op.getValue()})
    for (Value result : op->getResults())
      if (failed(place(op, result, places.at(operand))))
        return failure();
  return success();
}

LogicalResult TokenDims::visitRegion(AutocastOp op) {
  Block &body = op.getBody().front();
  if (failed(visitBlock(body)))
    return failure();
  for (auto [result, yielded] :
       llvm::zip_equal(op->getResults(), body.getTerminator()->getOperands()))
    if (isToken(yielded))
      places[result] = places.at(yielded);
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
  for (Value value : op.getSliced())
    if (isToken(value))
      for (Value result : op->getResults().drop_front(carried))
        if (failed(place(op, result, places.at(value))))
          return failure();
  loops.insert(op);
  return success();
}
