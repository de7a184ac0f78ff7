//===- Normalization.cpp - zero mean and unit variance --------------------===//
#include "dialect/ops/Normalization.h"
#include "dialect/ops/NormalizationFrame.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

using Frame = NormalizationFrame;
using Types = SmallVectorImpl<Type>;
using Where = std::optional<Location>;
using Results = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

static RankedTensorType computed(RankedTensorType type) {
  return type.clone(computeType(type.getElementType()));
}

static LogicalResult expect(Where location, StringRef name, Value value,
                            RankedTensorType expected) {
  if (!value || value.getType() == expected)
    return success();
  return emitOptionalError(location, name, " is ", value.getType(),
                           ", expected ", expected);
}

/// Types of parameters and statistics over the trailing `dims`.
struct TrailingTypes {
  RankedTensorType parameter, statistic;
};
static FailureOr<TrailingTypes> inferTrailing(Where location, Value input,
                                              ArrayRef<int64_t> dims) {
  auto type = computed(tensorType(input));
  if (dims.empty())
    return emitOptionalError(location, "says of no dimension that it is "
                                       "normalized: give normalized_shape, or "
                                       "a weight with dimensions");
  auto parameter = type.clone(dims);
  if (ArrayRef(dims) != type.getShape().take_back(dims.size()))
    return emitOptionalError(location, "normalizes ", parameter.getShape(),
                             ", but the input is ", input.getType());
  SmallVector<int64_t> shape(type.getShape());
  std::fill(shape.end() - dims.size(), shape.end(), 1);
  return TrailingTypes{parameter, type.clone(shape)};
}

/// The type [C] for an input [N, ..., C, ...].
static FailureOr<RankedTensorType>
inferChannels(Where location, Value input, std::optional<int64_t> channelDim) {
  auto type = computed(tensorType(input));
  if (type.getRank() < 2)
    return emitOptionalError(
        location, "input is not a batch of channels: ", tensorType(input));
  if (ArrayRef<int64_t> inner = type.getShape().drop_front();
      llvm::any_of(inner, ShapedType::isDynamic))
    return emitOptionalError(location,
                             "only the batch may be '?': ", tensorType(input));
  int64_t dim = channelDimOr(channelDim);
  if (dim < 1 || dim >= type.getRank())
    return emitOptionalError(location, "channel_dim is ", dim,
                             ", expected 1 to ", type.getRank() - 1, " for ",
                             tensorType(input));
  return type.clone({type.getDimSize(dim)});
}

/// The type [N, num_groups].
static FailureOr<RankedTensorType> inferGroups(Where location,
                                               RankedTensorType input,
                                               RankedTensorType channelsType,
                                               int64_t groups) {
  int64_t channels = channelsType.getDimSize(0);
  if (groups <= 0)
    return emitOptionalError(location, "num_groups is ", groups,
                             ", expected a positive number");
  if (channels % groups != 0)
    return emitOptionalError(location, channels,
                             " channels do not make num_groups = ", groups,
                             " equal groups");
  return computed(input).clone({input.getDimSize(0), groups});
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, Where location,
                                            Adaptor adaptor, Types &types) {
  Value input = adaptor.getInput(), weight = adaptor.getWeight(),
        bias = adaptor.getBias();
  auto inferred = inferTrailing(
      location, input,
      normalizedDims(adaptor.getNormalizedShape(), weight ? weight : bias));
  if (failed(inferred) ||
      failed(expect(location, "weight", weight, inferred->parameter)) ||
      failed(expect(location, "bias", bias, inferred->parameter)))
    return failure();
  types.append({input.getType(), inferred->statistic, inferred->statistic});
  return success();
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, Where location,
                                          Adaptor adaptor, Types &types) {
  Value input = adaptor.getInput(), weight = adaptor.getWeight();
  auto inferred = inferTrailing(
      location, input, normalizedDims(adaptor.getNormalizedShape(), weight));
  if (failed(inferred) ||
      failed(expect(location, "weight", weight, inferred->parameter)))
    return failure();
  types.append({input.getType(), inferred->statistic});
  return success();
}

/// Checks the operands of a backward op, except the statistics.
template <typename Adaptor>
static LogicalResult checkBackward(Where location, Adaptor adaptor,
                                   RankedTensorType parameter) {
  return failure(
      failed(expect(location, "gradient", adaptor.getGradient(),
                    tensorType(adaptor.getInput()))) ||
      failed(expect(location, "weight", adaptor.getWeight(), parameter)));
}

LogicalResult LayerNormBackwardOp::inferReturnTypes(MLIRContext *,
                                                    Where location,
                                                    Adaptor adaptor,
                                                    Types &types) {
  Value input = adaptor.getInput();
  auto inferred = inferTrailing(
      location, input,
      normalizedDims(adaptor.getNormalizedShape(), adaptor.getWeight()));
  if (failed(inferred) ||
      failed(checkBackward(location, adaptor, inferred->parameter)) ||
      failed(
          expect(location, "mean", adaptor.getMean(), inferred->statistic)) ||
      failed(expect(location, "rstd", adaptor.getRstd(), inferred->statistic)))
    return failure();
  types.append({input.getType(), inferred->parameter, inferred->parameter});
  return success();
}

LogicalResult RmsNormBackwardOp::inferReturnTypes(MLIRContext *, Where location,
                                                  Adaptor adaptor,
                                                  Types &types) {
  Value input = adaptor.getInput();
  auto inferred = inferTrailing(
      location, input,
      normalizedDims(adaptor.getNormalizedShape(), adaptor.getWeight()));
  if (failed(inferred) ||
      failed(checkBackward(location, adaptor, inferred->parameter)) ||
      failed(expect(location, "rstd", adaptor.getRstd(), inferred->statistic)))
    return failure();
  types.append({input.getType(), inferred->parameter});
  return success();
}

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *, Where location,
                                            Adaptor adaptor, Types &types) {
  Value input = adaptor.getInput();
  auto channels = inferChannels(location, input, adaptor.getChannelDim());
  if (failed(channels))
    return failure();
  auto groups = inferGroups(location, tensorType(input), *channels,
                            adaptor.getNumGroups());
  if (failed(groups) ||
      failed(expect(location, "weight", adaptor.getWeight(), *channels)) ||
      failed(expect(location, "bias", adaptor.getBias(), *channels)))
    return failure();
  types.append({input.getType(), *groups, *groups});
  return success();
}

LogicalResult GroupNormBackwardOp::inferReturnTypes(MLIRContext *,
                                                    Where location,
                                                    Adaptor adaptor,
                                                    Types &types) {
  Value input = adaptor.getInput();
  auto channels = inferChannels(location, input, adaptor.getChannelDim());
  if (failed(channels))
    return failure();
  auto groups = inferGroups(location, tensorType(input), *channels,
                            adaptor.getNumGroups());
  if (failed(groups) || failed(checkBackward(location, adaptor, *channels)) ||
      failed(expect(location, "mean", adaptor.getMean(), *groups)) ||
      failed(expect(location, "rstd", adaptor.getRstd(), *groups)))
    return failure();
  types.append({input.getType(), *channels, *channels});
  return success();
}

/// Running statistics and parameters of a batch norm.
template <typename Adaptor>
static FailureOr<RankedTensorType> inferBatchNorm(Where location,
                                                  Adaptor adaptor) {
  auto channels =
      inferChannels(location, adaptor.getInput(), adaptor.getChannelDim());
  if (failed(channels) ||
      failed(expect(location, "running_mean", adaptor.getRunningMean(),
                    *channels)) ||
      failed(expect(location, "running_var", adaptor.getRunningVar(),
                    *channels)) ||
      failed(expect(location, "weight", adaptor.getWeight(), *channels)) ||
      failed(expect(location, "bias", adaptor.getBias(), *channels)))
    return failure();
  return channels;
}

/// The number of elements of a channel.
static int64_t channelSize(RankedTensorType input, int64_t channelDim) {
  ArrayRef<int64_t> shape = input.getShape();
  return llvm::product_of(shape.take_front(channelDim)) *
         llvm::product_of(shape.drop_front(channelDim + 1));
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, Where location,
                                            Adaptor adaptor, Types &types) {
  auto channels = inferBatchNorm(location, adaptor);
  if (failed(channels))
    return failure();
  // The unbiased variance of one element is 0 / 0.
  auto input = tensorType(adaptor.getInput());
  int64_t size = input.hasStaticShape()
                     ? channelSize(input, channelDimOr(adaptor.getChannelDim()))
                     : 2;
  if (size < 2)
    return emitOptionalError(
        location, "needs more than one element a channel to train, got ", size,
        " of ", input);
  types.append({input, *channels, *channels, *channels, *channels});
  return success();
}

LogicalResult BatchNormBackwardOp::inferReturnTypes(MLIRContext *,
                                                    Where location,
                                                    Adaptor adaptor,
                                                    Types &types) {
  Value input = adaptor.getInput();
  auto channels = inferChannels(location, input, adaptor.getChannelDim());
  if (failed(channels) || failed(checkBackward(location, adaptor, *channels)) ||
      failed(expect(location, "mean", adaptor.getMean(), *channels)) ||
      failed(expect(location, "rstd", adaptor.getRstd(), *channels)))
    return failure();
  types.append({input.getType(), *channels, *channels});
  return success();
}

LogicalResult BatchNormInferenceOp::inferReturnTypes(MLIRContext *,
                                                     Where location,
                                                     Adaptor adaptor,
                                                     Types &types) {
  if (failed(inferBatchNorm(location, adaptor)))
    return failure();
  types.push_back(adaptor.getInput().getType());
  return success();
}

static LogicalResult verifyEps(Operation *op, std::optional<APFloat> eps) {
  if (!eps || (!eps->isNegative() && eps->isFinite()))
    return success();
  return op->emitOpError() << "eps is " << eps->convertToDouble()
                           << ", expected a number that is not negative";
}
LogicalResult LayerNormOp::verify() { return verifyEps(*this, getEps()); }
LogicalResult RmsNormOp::verify() { return verifyEps(*this, getEps()); }
LogicalResult GroupNormOp::verify() { return verifyEps(*this, getEps()); }
LogicalResult BatchNormInferenceOp::verify() {
  return verifyEps(*this, getEps());
}
LogicalResult BatchNormOp::verify() {
  double momentum = getMomentum().convertToDouble();
  if (!(momentum >= 0 && momentum <= 1))
    return emitOpError() << "momentum is " << momentum << ", expected 0 to 1";
  return verifyEps(*this, getEps());
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

/// Returns the parameters among an op's operands.
template <typename Operands>
static Frame::Parameters parametersOf(ImplicitLocOpBuilder &b,
                                      Operands operands) {
  Expression weight(b, operands.getWeight());
  if constexpr (requires { operands.getBias(); })
    return {weight, {b, operands.getBias()}};
  else
    return {weight, Expression()};
}

/// Returns the result, the mean and the reciprocal deviation.
template <typename Op>
static Results decomposeNorm(ImplicitLocOpBuilder &b, Op op,
                             ValueRange operands) {
  typename Op::Adaptor in(operands, op);
  Frame frame = frameOf(b, op);
  Expression input(b, in.getInput());
  auto [mean, variance] = frame.moments(input);
  Expression rstd =
      frame.reciprocalDeviation(variance, op.getEps().convertToDouble());
  return {frame.normalize(input, {mean, rstd}, parametersOf(b, in)), mean,
          rstd};
}
Results LayerNormOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  return decomposeNorm(b, *this, operands);
}
/// Moves a dimension to another place; the others keep their order.
static Value moveDim(ImplicitLocOpBuilder &b, Value value, int64_t from,
                     int64_t to) {
  auto order = llvm::to_vector(llvm::seq(tensorType(value).getRank()));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return TransposeOp::create(b, value, order);
}

/// Numbers of [N, C] are neither those of rows nor those of columns of images
/// with channels last, for which a kernel would store what is between its
/// stages. To transpose images, in their own type, moves fewer bytes.
Results GroupNormOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  int64_t dim = channelDimOr(getChannelDim());
  if (dim == 1)
    return decomposeNorm(b, *this, operands);
  auto norm = GroupNormOp::create(b, moveDim(b, getInput(), dim, 1),
                                  getWeight(), getBias(), getNumGroupsAttr(),
                                  IntegerAttr(), getEpsAttr());
  return {moveDim(b, norm.getResult(), 1, dim), norm.getMean(), norm.getRstd()};
}

/// The given epsilon, or that of the type in which the op computes.
static double epsOf(RmsNormOp op, Type element) {
  if (auto eps = op.getEps())
    return eps->convertToDouble();
  return computeType(element).isF64() ? 0x1p-52 : 0x1p-23;
}

/// The default epsilon must not change with the type in which the op computes.
LogicalResult RmsNormOp::retypeResults() {
  Type before = elementType(getResult()), after = elementType(getInput());
  if (!getEps() && computeType(before) != computeType(after))
    setEpsAttr(Builder(getContext()).getF64FloatAttr(epsOf(*this, before)));
  return inferResultsAgain(*this);
}

Results RmsNormOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  Adaptor in(operands, *this);
  Frame frame = frameOf(b, *this);
  Expression input(b, in.getInput());
  double eps = epsOf(*this, elementType(input));
  Expression rstd = frame.reciprocalDeviation(frame.meanSquare(input), eps);
  return {frame.normalize(input, {Expression(), rstd}, parametersOf(b, in)),
          rstd};
}

/// The ratio of the unbiased to the biased variance of n elements.
static double unbiasing(double n) { return n / (n - 1); }

Results BatchNormOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  Adaptor in(operands, *this);
  Frame frame = frameOf(b, *this);
  Expression input(b, in.getInput());
  auto [mean, variance] = frame.moments(input);
  Expression rstd =
      frame.reciprocalDeviation(variance, getEps().convertToDouble());
  Expression result = frame.normalize(input, {mean, rstd}, parametersOf(b, in));
  double momentum = getMomentum().convertToDouble();
  auto follow = [&](Value before, Expression now, double part) {
    Expression kept = Expression(b, before) * (1 - momentum);
    return kept + now * part;
  };
  return {result, mean, rstd, follow(in.getRunningMean(), mean, momentum),
          follow(in.getRunningVar(), variance,
                 momentum * unbiasing(frame.count()))};
}

Results BatchNormInferenceOp::decompose(ImplicitLocOpBuilder &b,
                                        ValueRange operands) {
  Adaptor in(operands, *this);
  Frame frame = frameOf(b, *this);
  Expression mean(b, in.getRunningMean()), variance(b, in.getRunningVar());
  Expression rstd =
      frame.reciprocalDeviation(variance, getEps().convertToDouble());
  return {
      frame.normalize({b, in.getInput()}, {mean, rstd}, parametersOf(b, in))};
}

template <typename Op>
static Results decomposeBackward(ImplicitLocOpBuilder &b, Op op,
                                 ValueRange operands) {
  typename Op::Adaptor in(operands, op);
  auto gradients =
      frameOf(b, op).backward({b, in.getGradient()}, {b, in.getInput()},
                              statisticsOf(b, in), {b, in.getWeight()});
  Results results{gradients.input, gradients.weight};
  if (op->getNumResults() == 3)
    results.push_back(gradients.bias);
  return results;
}
Results LayerNormBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                       ValueRange operands) {
  return decomposeBackward(b, *this, operands);
}
Results RmsNormBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                     ValueRange operands) {
  return decomposeBackward(b, *this, operands);
}
Results GroupNormBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                       ValueRange operands) {
  int64_t dim = channelDimOr(getChannelDim());
  if (dim == 1)
    return decomposeBackward(b, *this, operands);
  auto backward = GroupNormBackwardOp::create(
      b, moveDim(b, getGradient(), dim, 1), moveDim(b, getInput(), dim, 1),
      getMean(), getRstd(), getWeight(), getNumGroupsAttr(), IntegerAttr());
  return {moveDim(b, backward.getInputGradient(), 1, dim),
          backward.getWeightGradient(), backward.getBiasGradient()};
}
Results BatchNormBackwardOp::decompose(ImplicitLocOpBuilder &b,
                                       ValueRange operands) {
  return decomposeBackward(b, *this, operands);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Results BatchNormOp::buildEvaluation(ImplicitLocOpBuilder &b) {
  Value result = BatchNormInferenceOp::create(
      b, getInput(), getRunningMean(), getRunningVar(), getWeight(), getBias(),
      getChannelDimAttr(), getEpsAttr());
  Value rstd;
  if (!getRstd().use_empty())
    rstd = frameOf(b, *this).reciprocalDeviation({b, getRunningVar()},
                                                 getEps().convertToDouble());
  return {result, getRunningMean(), rstd, getRunningMean(), getRunningVar()};
}
