//===- RotaryEmbedding.cpp - positions as angles --------------------------===//
//
// An element of the result is the channel by the cosine plus its partner in the
// pair by the sine, with a sign: elementwise, in the shape of the input, so
// that it fuses with what is around it.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/RotaryEmbedding.h"
#include "dialect/Adjoint.h"
#include "dialect/Expression.h"
#include "dialect/Slices.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rule
//===----------------------------------------------------------------------===//

/// Fails unless there is an angle for each token, or each token of a sample,
/// and pair of channels.
static LogicalResult checkAngles(std::optional<Location> location,
                                 RankedTensorType input, int64_t dim,
                                 RankedTensorType angles) {
  SmallVector<int64_t> own(input.getShape().take_front(dim + 1));
  own.push_back(input.getShape().back() / 2);
  ArrayRef<int64_t> shared = ArrayRef(own).take_back(2);
  if (angles.getShape() != ArrayRef(own) && angles.getShape() != shared)
    return emitOptionalError(
        location, "angles ", angles, " are not one for each token and pair of ",
        input, ": expected ", angles.clone(shared), " or ", angles.clone(own));
  Type compute = computeType(input.getElementType());
  if (computeType(angles.getElementType()) != compute)
    return emitOptionalError(location, "angles ", angles,
                             " are not computed with in ", compute,
                             ", as the input is: ", input);
  return success();
}

LogicalResult RotaryEmbeddingOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput());
  int64_t dim = adaptor.getDim(), rank = input.getRank();
  if (rank < 2)
    return emitOptionalError(
        location,
        "the input needs tokens and channels, two dimensions: ", input);
  if (dim < 0 || dim > rank - 2)
    return emitOptionalError(location, "dimension ", dim,
                             " of the tokens is not one of the first ",
                             rank - 1, " of ", input);
  if (input.getShape().back() % 2 != 0)
    return emitOptionalError(location, "the channels are no pairs: ",
                             input.getShape().back(), " of ", input);
  if (failed(checkAngles(location, input, dim, tensorType(adaptor.getCos()))))
    return failure();
  types.push_back(input);
  return success();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
/// The channels of heads as pairs, [..., 2, D/2], or [..., D/2, 2] with
/// neighbours as pairs; in a decomposition.
class Pairs {
public:
  Pairs(ImplicitLocOpBuilder &b, RotaryEmbeddingOp op)
      : b(b), op(op), shape(op.getType().getShape()) {
    pairDim = op.getInterleaved() ? rank() : rank() - 1;
  }

  /// The other channel of each pair, moved before the type is widened: halves
  /// as rows of a table, neighbours as two boxes.
  Expression swapped(Value input) {
    Value pairs = reshaped(input, split(shape, 2));
    Value moved =
        op.getInterleaved()
            ? Value(ConcatOp::create(
                  b, ValueRange{one(pairs, 1), one(pairs, 0)}, pairDim))
            : Value(GatherOp::create(b, pairs, order(), pairDim));
    return reshaped(moved, shape).wide();
  }

  /// Angles for the channels of every head: [T, ..., D] or of the input's
  /// shape. The view through a flat list makes fusion store them, once for all
  /// that has heads of this shape; kernels of the input's elements then find
  /// them in their order.
  Expression spread(Expression angles) {
    SmallVector<int64_t> all(shape.drop_front(leading()));
    auto type = tensorType(angles).clone(split(all, 2));
    Value repeated = BroadcastOp::create(b, type, angles);
    return reshaped(reshaped(repeated, type.getNumElements()), all);
  }

  /// cos or sin with dimensions of one in place of heads and of the pair.
  Expression aligned(Value angles) {
    auto given = tensorType(angles).getShape();
    SmallVector<int64_t> ones(rank() - leading(), 1);
    ones.back() = shape.back();
    llvm::copy(given.drop_back(), ones.begin());
    return reshaped(angles, split(ones, 1));
  }

  /// Whether a channel is the second one of its pair.
  Expression isSecond() {
    SmallVector<int64_t> ones(rank() - leading(), 1);
    ones.back() = 2;
    auto type = RankedTensorType::get(split(ones, 2), b.getI32Type());
    return Expression(b, IotaOp::create(b, type, pairDim - leading())) == 1;
  }

private:
  /// The first or the second channel of each pair.
  Value one(Value pairs, int64_t which) {
    return sliceAlong(b, pairs, pairDim, which, 1);
  }
  /// The second half, then the first.
  Value order() {
    auto type = RankedTensorType::get({2}, b.getI32Type());
    return ConstantOp::create(
        b, DenseElementsAttr::get(type, ArrayRef<int32_t>{1, 0}));
  }
  int64_t rank() { return shape.size(); }
  /// The dimensions of samples, if all have the same angles.
  int64_t leading() {
    return op.getDim() + 2 - op.getCos().getType().getRank();
  }
  /// The shape with its last dimension, of channels, in `pair` and the rest.
  SmallVector<int64_t> split(ArrayRef<int64_t> of, int64_t pair) {
    SmallVector<int64_t> pairs(of.drop_back());
    pairs.append({of.back() / 2, of.back() / 2});
    pairs[pairDim - (rank() - static_cast<int64_t>(of.size()))] = pair;
    return pairs;
  }
  Expression reshaped(Value value, ArrayRef<int64_t> to) {
    return {b, ReshapeOp::create(b, tensorType(value).clone(to), value)};
  }

  ImplicitLocOpBuilder &b;
  RotaryEmbeddingOp op;
  ArrayRef<int64_t> shape;
  int64_t pairDim;
};
} // namespace

/// Each token is rotated by its own angles, whose dimensions end where tokens
/// are; the last one holds pairs, which are mixed.
std::optional<int64_t> RotaryEmbeddingOp::followRows(unsigned operand,
                                                     int64_t dim) {
  int64_t rank = tensorType(getOperand(operand)).getRank();
  if (dim == rank - 1)
    return std::nullopt;
  return operand == 0 ? dim : dim + static_cast<int64_t>(getDim()) + 2 - rank;
}

SmallVector<Value> RotaryEmbeddingOp::decompose(ImplicitLocOpBuilder &b,
                                                ValueRange operands) {
  Pairs pairs(b, *this);
  Expression x(b, operands[0]), partner = pairs.swapped(getInput());
  Expression cos = pairs.aligned(operands[1]), sin = pairs.aligned(operands[2]);
  Expression turn = getInverse() ? select(pairs.isSecond(), -sin, sin)
                                 : select(pairs.isSecond(), sin, -sin);
  return {x * pairs.spread(cos) + partner * pairs.spread(turn)};
}

/// Rotates back; the angles have the gradients of the parts.
SmallVector<Value> RotaryEmbeddingOp::buildGradients(ImplicitLocOpBuilder &b,
                                                     ValueRange g) {
  SmallVector<Value> gradients = differentiateParts(*this, b, g);
  gradients[0] = RotaryEmbeddingOp::create(
      b, g[0], getCos(), getSin(), getDim(), getInterleaved(), !getInverse());
  return gradients;
}

std::vector<OpSample> RotaryEmbeddingOp::sampleInputs() {
  std::vector<OpSample> samples;
  for (const char *form : {"", " interleaved", " inverse"})
    samples.push_back(
        {{{"tensor<2x3x2x4xf64>"}, {"tensor<3x2xf64>"}, {"tensor<3x2xf64>"}},
         std::string("mp.rotary_embedding %0, %1, %2 dim(1)") + form +
             " : tensor<2x3x2x4xf64>, tensor<3x2xf64>"});
  samples.push_back({{{"tensor<2x2x3x4xf64>"},
                      {"tensor<2x2x3x2xf64>"},
                      {"tensor<2x2x3x2xf64>"}},
                     "mp.rotary_embedding %0, %1, %2 dim(2) : "
                     "tensor<2x2x3x4xf64>, tensor<2x2x3x2xf64>"});
  samples.push_back(
      {{{"tensor<3x6xf64>"}, {"tensor<3x3xf64>"}, {"tensor<3x3xf64>"}},
       "mp.rotary_embedding %0, %1, %2 dim(0) interleaved "
       "inverse : tensor<3x6xf64>, tensor<3x3xf64>"});
  return samples;
}
