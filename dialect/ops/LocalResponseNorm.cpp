//===- LocalResponseNorm.cpp - channels and their neighbours --------------===//
#include "dialect/ops/LocalResponseNorm.h"
#include "dialect/Expression.h"
#include "dialect/PoolingRules.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Sums over windows
//===----------------------------------------------------------------------===//

/// The last dimension, along which a window slides.
static LogicalResult checkChannels(std::optional<Location> location,
                                   RankedTensorType type) {
  if (type.getRank() == 0)
    return emitOptionalError(location,
                             "input has no dimension to slide "
                             "along: ",
                             type);
  if (type.getRank() == 1 && type.isDynamicDim(0))
    return emitOptionalError(location,
                             "the window cannot slide along the "
                             "batch: ",
                             type);
  return success();
}
static LogicalResult checkWindow(std::optional<Location> location,
                                 int64_t size) {
  constexpr int64_t most = int64_t(1) << 31;
  if (size < 1 || size > most)
    return emitOptionalError(location, "size is ", size,
                             ", expected a number from 1 to ", most);
  return success();
}

LogicalResult WindowSumOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = tensorType(adaptor.getInput());
  int64_t size = adaptor.getSize(), low = adaptor.getLow();
  if (failed(checkChannels(location, type)) ||
      failed(checkWindow(location, size)))
    return failure();
  if (low < 0 || low >= size)
    return emitOptionalError(location, "low is ", low,
                             ", expected a number from 0 to ", size - 1);
  types.push_back(type);
  return success();
}

std::optional<int64_t> WindowSumOp::getTermCount() {
  auto type = getType();
  return std::min<int64_t>(getSize(), type.getDimSize(type.getRank() - 1));
}
Value WindowSumOp::buildWithoutLoop(ImplicitLocOpBuilder &b) {
  return withoutImageLoop(b, *this);
}

/// The window the other way round.
static int64_t mirrored(int64_t size, int64_t low) { return size - 1 - low; }
Gradients WindowSumOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {
      WindowSumOp::create(b, g[0], getSize(), mirrored(getSize(), getLow()))};
}

std::vector<OpSample> WindowSumOp::sampleInputs() {
  return {{{{"tensor<2x3x8xf64>"}},
           "mp.window_sum %0 size(3) low(1) : tensor<2x3x8xf64>"},
          {{{"tensor<3x4xf64>"}},
           "mp.window_sum %0 size(6) low(4) : tensor<3x4xf64>"}};
}

//===----------------------------------------------------------------------===//
// The norm
//===----------------------------------------------------------------------===//

LogicalResult LocalResponseNormOp::verify() {
  if (failed(checkChannels(getLoc(), getType())))
    return failure();
  return checkWindow(getLoc(), getSize());
}

/// x to a power that is usually 0.75.
static Expression powerOf(Expression x, double exponent) {
  if (exponent == 1)
    return x;
  if (exponent != 0.5 && exponent != 0.75)
    return pow(x, exponent);
  Expression root = sqrt(x);
  return exponent == 0.5 ? root : root * sqrt(root);
}

namespace {
/// The parts of a norm, in the compute type.
struct Norm {
  Expression x, denominator, power;

  Norm(ImplicitLocOpBuilder &b, LocalResponseNormOp op)
      : x(Expression(b, op.getInput()).wide()) {
    int64_t size = op.getSize();
    Expression sums(b, WindowSumOp::create(b, x * x, size, size / 2));
    denominator = sums * scaleOf(op) + op.getK().convertToDouble();
    power = powerOf(denominator, op.getBeta().convertToDouble());
  }
  static double scaleOf(LocalResponseNormOp op) {
    return op.getAlpha().convertToDouble() / double(op.getSize());
  }
};
} // namespace

Value LocalResponseNormOp::buildWithoutLoop(ImplicitLocOpBuilder &b) {
  Norm norm(b, *this);
  return castTo(b, norm.x / norm.power, getType().getElementType());
}

Gradients LocalResponseNormOp::buildGradients(ImplicitLocOpBuilder &b,
                                              ValueRange g) {
  Norm norm(b, *this);
  Expression direct = Expression(b, g[0]).wide() / norm.power;
  Expression shares = direct * norm.x / norm.denominator;
  int64_t size = getSize();
  Expression sums(
      b, WindowSumOp::create(b, shares, size, mirrored(size, size / 2)));
  double factor = 2 * getBeta().convertToDouble() * Norm::scaleOf(*this);
  return {direct - norm.x * sums * factor};
}

std::vector<OpSample> LocalResponseNormOp::sampleInputs() {
  return {{{{"tensor<2x3x3x5xf64>"}},
           "mp.local_response_norm %0 size(3) {alpha = 0.5} : "
           "tensor<2x3x3x5xf64>"},
          {{{"tensor<3x4xf64>"}},
           "mp.local_response_norm %0 size(2) {alpha = 0.3, beta = 0.6, "
           "k = 2.0} : tensor<3x4xf64>"}};
}
