//===- TensorScales.cpp - a scale for each 8-bit tensor -------------------===//
#include "passes/step/TensorScales.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Math.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/State.h"
#include "passes/analysis/Recipe.h"

using namespace mlir;
using namespace mp;

static RankedTensorType scalar(Type element) {
  return RankedTensorType::get({}, element);
}

TensorScales::TensorScales(func::FuncOp function, bool hasHistory)
    : function(function), variables(function->getParentOfType<ModuleOp>()),
      hasHistory(hasHistory), isStep(!function.getOps<SeedOp>().empty()) {
  if (namedResult(function, kSkippedResult))
    for (ScaleOp scale : function.getOps<ScaleOp>())
      lossScale = scale.getScale();
}

/// Builds the largest magnitude of all elements, in f32.
static Value largestMagnitude(ImplicitLocOpBuilder &b, Value wide) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(tensorType(wide).getRank()));
  return MaxOp::create(b, AbsOp::create(b, wide), dims, false);
}

static double largestOf(FloatType type) {
  return APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
}

static Value toBits(ImplicitLocOpBuilder &b, Value wide, Value scale,
                    FloatType type) {
  double most = largestOf(type);
  Value scaled = MulOp::create(b, wide, scale);
  Value saturated = ClampOp::create(b, scaled, b.getF64FloatAttr(-most),
                                    b.getF64FloatAttr(most));
  Value kept =
      SelectOp::create(b, IsFiniteOp::create(b, wide), saturated, scaled);
  return castTo(b, kept, type);
}

ScaledTensor TensorScales::scaleAgain(Value value, const ScaledTensor &first) {
  ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
  b.setInsertionPointAfterValue(value);
  Value wide = castTo(b, value, b.getF32Type());
  auto type = cast<FloatType>(elementType(first.bits));
  return {toBits(b, wide, first.scale, type), first.scale, first.inverseScale};
}

ScaledTensor TensorScales::scale(Value value, FloatType type,
                                 StorageAttr storage, StringRef name,
                                 bool isGradient) {
  ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
  b.setInsertionPointAfterValue(value);
  FloatType f32 = b.getF32Type();
  auto number = [&](double n) { return splat(b, scalar(f32), n); };
  double most = largestOf(type);

  Value wide = castTo(b, value, f32);
  Value amax = largestMagnitude(b, wide);
  Value largest = hasHistory ? largestSoFar(b, amax, storage, name,
                                            isGradient ? lossScale : Value())
                             : amax;
  Value zero = number(0), one = number(1);
  Value ratio = DivOp::create(
      b, number(std::ldexp(most, -int(storage.getMargin()))), largest);
  // For a tiny amax the ratio would be infinite, and its inverse zero.
  Value bounded = MinimumOp::create(b, ratio, number(0x1p126));
  Value isKnown = CompareOp::create(b, Comparison::gt, largest, zero);
  Value scale = SelectOp::create(b, isKnown, bounded, one);

  Value bits = toBits(b, wide, scale, type);
  return {bits, scale, DivOp::create(b, one, scale)};
}

/// Returns the largest amax in the history, and adds this step's. With a loss
/// scale the history has unscaled values, which change less.
Value TensorScales::largestSoFar(ImplicitLocOpBuilder &b, Value amax,
                                 StorageAttr storage, StringRef name,
                                 Value lossScale) {
  std::string full = (name + ".amax").str();
  for (unsigned i = 2; !names.insert(full).second; ++i)
    full = (name + "." + Twine(i) + ".amax").str();
  int64_t length = storage.getAmaxHistory();
  auto type = RankedTensorType::get({length}, b.getF32Type());
  variables.create(b.getLoc(), full, type, StateKind::buffer, 0,
                   variables.role(StateRole::history));
  Value history = ReadOp::create(b, type, full);
  Value largest = MaxOp::create(b, history, ArrayRef<int64_t>{0}, false);
  if (lossScale) {
    largest = MulOp::create(b, largest, lossScale);
    auto unscaled = UnscaleAndCheckOp::create(b, amax, lossScale);
    amax = unscaled.getUnscaled();
    skipWhere(unscaled.getFoundInf());
  }
  if (!isStep)
    return largest;
  Value index =
      IotaOp::create(b, RankedTensorType::get({length}, b.getI32Type()),
                     b.getI64IntegerAttr(0));
  Value isHere =
      CompareOp::create(b, Comparison::eq, index, positionIn(length));
  // The infinity of a tensor tells nothing about the next one's size.
  Value known = SelectOp::create(b, IsFiniteOp::create(b, amax), amax,
                                 splat(b, scalar(b.getF32Type()), 0));
  WriteOp::create(b, full, SelectOp::create(b, isHere, known, history),
                  Value());
  return largest;
}

/// Adds to the step's flag, which the scaler's update reads too.
void TensorScales::skipWhere(Value foundInf) {
  Value flag = namedResult(function, kSkippedResult)->get();
  ImplicitLocOpBuilder b(foundInf.getLoc(), foundInf.getContext());
  b.setInsertionPointAfterValue(flag);
  Value either = OrOp::create(b, flag, foundInf);
  flag.replaceAllUsesExcept(either, either.getDefiningOp());
}

/// Histories are rings that all begin at the same position.
Value TensorScales::positionIn(int64_t length) {
  Value &position = positions[length];
  if (!position) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.getBody().front());
    std::string name =
        (function.getName() + ".amax_position." + Twine(length)).str();
    auto type = scalar(b.getI32Type());
    variables.create(function.getLoc(), name, type, StateKind::buffer, 0,
                     variables.role(StateRole::position));
    position = ReadOp::create(b, type, name);
  }
  return position;
}

void TensorScales::finish() {
  ImplicitLocOpBuilder b(function.getLoc(),
                         function.getBody().front().getTerminator());
  for (auto [length, position] : positions) {
    auto type = scalar(b.getI32Type());
    Value next = AddOp::create(b, position, splat(b, type, 1));
    Value isEnd =
        CompareOp::create(b, Comparison::eq, next, splat(b, type, length));
    Value wrapped = SelectOp::create(b, isEnd, splat(b, type, 0), next);
    WriteOp::create(b, cast<ReadOp>(position.getDefiningOp()).getVariable(),
                    wrapped, Value());
  }
}
