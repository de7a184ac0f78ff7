//===- RankParts.cpp - tensors of which each rank has a part --------------===//
#include "passes/step/RankParts.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/View.h"
#include <limits>

using namespace mlir;
using namespace mp;

RankedTensorType RankParts::typeOf(RankedTensorType whole, int64_t ranks) {
  return whole.clone(
      {int64_t(llvm::divideCeil(whole.getNumElements(), ranks))});
}

Value RankParts::rank() {
  if (!ownRank) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.getBody().front());
    ownRank = RankOp::create(b);
  }
  return ownRank;
}

/// Returns a tensor as [ranks, elements of a part].
Value RankParts::divided(ImplicitLocOpBuilder &b, Value whole) {
  RankedTensorType type = tensorType(whole);
  int64_t elements = type.getNumElements(), part = typeOf(type).getDimSize(0);
  Value flat = b.createOrFold<ReshapeOp>(type.clone({elements}), whole);
  if (int64_t padding = part * ranks - elements)
    flat =
        PadOp::create(b, flat, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{padding},
                      DenseI64ArrayAttr(), APFloat(0.0));
  return b.createOrFold<ReshapeOp>(type.clone({ranks, part}), flat);
}

Value RankParts::of(Value whole, Operation *user) {
  if (Value known = parts.lookup(whole))
    return known;
  ImplicitLocOpBuilder b(whole.getLoc(), user);
  if (auto constant = whole.getDefiningOp<ConstantOp>())
    if (auto value = splatValue(constant.getValue()))
      return splat(b, typeOf(tensorType(whole)), *value);
  return parts[whole] =
             GatherOp::create(b, divided(b, whole), rank(), /*dim=*/0,
                              /*batched=*/false);
}

Value RankParts::whole(Value value) {
  Value &known = wholes[value];
  if (known)
    return known;
  Value part = parts.lookup(value);
  ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
  b.setInsertionPointAfterValue(part);
  RankedTensorType type = tensorType(value);
  int64_t elements = type.getNumElements(),
          padded = tensorType(part).getDimSize(0) * ranks;
  Value all = AllGatherOp::create(b, part, ranks).getResult(0);
  all = ReshapeOp::create(b, type.clone({padded}), all);
  if (padded != elements)
    all = SliceOp::create(b, all, ArrayRef<int64_t>{0},
                          ArrayRef<int64_t>{elements}, DenseI64ArrayAttr());
  known = b.createOrFold<ReshapeOp>(type, all);
  return known;
}

Value RankParts::withoutPadding(Value whole, Operation *user) {
  Value part = of(whole, user);
  int64_t elements = tensorType(whole).getNumElements();
  int64_t own = tensorType(part).getDimSize(0);
  if (own * ranks == elements)
    return part;
  ImplicitLocOpBuilder b(whole.getLoc(), user);
  auto count = RankedTensorType::get({}, b.getI64Type());
  Value first = MulOp::create(b, rank(), splat(b, count, own));
  Value left = SubOp::create(b, splat(b, count, elements), first);
  left = castTo(b, MinimumOp::create(b, left, splat(b, count, own)),
                b.getI32Type());
  Value index =
      IotaOp::create(b, RankedTensorType::get({own}, b.getI32Type()), 0);
  Value isReal = CompareOp::create(b, Comparison::lt, index, left);
  if (elementType(part).isInteger(1))
    return AndOp::create(b, isReal, part);
  double smallest = -std::numeric_limits<double>::infinity();
  return SelectOp::create(
      b, isReal, part,
      splat(b, RankedTensorType::get({}, elementType(part)), smallest));
}
