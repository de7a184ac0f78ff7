//===- Gradients.cpp - a step's gradients ---------------------------------===//
#include "passes/analysis/Gradients.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Collective.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Math.h"
#include "dialect/ops/Optimizer.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/State.h"

using namespace mlir;
using namespace mp;

/// Returns the number of the first result of a step that is indices of rows,
/// and that `matches`.
static std::optional<unsigned>
findRows(func::FuncOp step, llvm::function_ref<bool(StringRef)> matches) {
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (auto of =
            step.getResultAttrOfType<FlatSymbolRefAttr>(i, kGradientRowsAttr);
        of && matches(of.getValue()))
      return i;
  return std::nullopt;
}

OpOperand *mp::rowsOfGradient(func::FuncOp step, StringRef parameter) {
  auto found =
      findRows(step, [&](StringRef name) { return name == parameter; });
  if (!found)
    return nullptr;
  return &step.getBody().front().getTerminator()->getOpOperand(*found);
}

LogicalResult mp::refuseGradientsOfRows(func::FuncOp step, StringRef why) {
  auto found = findRows(step, [](StringRef) { return true; });
  if (!found)
    return success();
  Value rows = step.getBody().front().getTerminator()->getOperand(*found);
  return emitError(rows.getLoc())
         << "the gradient of "
         << step.getResultAttrOfType<FlatSymbolRefAttr>(*found,
                                                        kGradientRowsAttr)
         << " is the rows that a batch uses (sparse), " << why;
}

Value mp::sumOfSquares(ImplicitLocOpBuilder &b, Value x) {
  Value square = MulOp::create(b, x, x);
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank()));
  return castTo(b, SumOp::create(b, square, all, false), b.getF32Type());
}

Value mp::normOf(ImplicitLocOpBuilder &b, ArrayRef<Value> squares) {
  Value total;
  for (Value square : squares)
    total = total ? Value(AddOp::create(b, total, square)) : square;
  if (!total)
    total = splat(b, RankedTensorType::get({}, b.getF32Type()), 0);
  return SqrtOp::create(b, total);
}

ScaleOp mp::findScaling(Value value) {
  DenseSet<Value> seen;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second || isa<UnscaleAndCheckOp>(op))
      continue;
    if (auto scale = dyn_cast<ScaleOp>(op))
      return scale;
    if (auto exchange = dyn_cast<AllReduceOp>(op))
      work.push_back(
          exchange.getInputs()[cast<OpResult>(next).getResultNumber()]);
    else
      llvm::append_range(work, op->getOperands());
  }
  return {};
}

std::string mp::originOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return "an argument";
  Operation *from = op;
  while (auto cast = dyn_cast_or_null<CastOp>(from))
    from = cast.getInput().getDefiningOp();
  if (auto read = dyn_cast_or_null<ReadOp>(from))
    return ("@" + read.getVariable()).str();
  return op->getName().getStringRef().str();
}

ClipFactorOp mp::clippingOf(Value gradient) {
  auto product = gradient.getDefiningOp<MulOp>();
  if (!product)
    return {};
  Value factor = product.getRhs();
  if (auto cast = factor.getDefiningOp<CastOp>())
    factor = cast.getInput();
  return factor.getDefiningOp<ClipFactorOp>();
}
