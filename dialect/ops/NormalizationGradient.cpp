//===- NormalizationGradient.cpp - gradient rules of the norms ------------===//
//
// Gradient rules of the norms, with samples for the tests.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Normalization.h"
#include "dialect/ops/NormalizationFrame.h"

using namespace mlir;
using namespace mp;

using Frame = NormalizationFrame;
using Results = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Adds the gradients through the statistics to the input's gradient.
template <typename Op>
static Expression withStatistics(ImplicitLocOpBuilder &b, Op op,
                                 Expression input,
                                 Frame::Statistics gradients) {
  if (!gradients.mean && !gradients.rstd)
    return input;
  Expression x(b, op.getInput());
  Expression more = frameOf(b, op).throughStatistics(
      x.wide(), statisticsOf(b, op), gradients);
  return input ? input + more : more;
}

/// One gradient per operand; none for an optional operand that is absent.
template <typename Op>
static Results operandsOf(Op op, Frame::Gradients gradients) {
  Results results{gradients.input};
  if (op.getWeight())
    results.push_back(gradients.weight);
  if constexpr (requires { op.getBias(); })
    if (op.getBias())
      results.push_back(gradients.bias);
  return results;
}

/// The dimensions, for a backward op without a weight that implies them.
template <typename Op>
static DenseI64ArrayAttr dimsAttr(Builder &b, Op op, Value parameter) {
  return op.getWeight() ? DenseI64ArrayAttr()
                        : b.getDenseI64ArrayAttr(normalizedDims(
                              op.getNormalizedShape(), parameter));
}

Results LayerNormOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Frame::Gradients to;
  if (g[0]) {
    auto backward =
        LayerNormBackwardOp::create(b, g[0], getInput(), getMean(), getRstd(),
                                    getWeight(), dimsAttr(b, *this, getBias()));
    to = {{b, backward.getInputGradient()},
          {b, backward.getWeightGradient()},
          {b, backward.getBiasGradient()}};
  }
  to.input = withStatistics(b, *this, to.input, {{b, g[1]}, {b, g[2]}});
  return operandsOf(*this, to);
}

Results RmsNormOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Frame::Gradients to;
  if (g[0]) {
    auto backward =
        RmsNormBackwardOp::create(b, g[0], getInput(), getRstd(), getWeight(),
                                  dimsAttr(b, *this, Value()));
    to.input = {b, backward.getInputGradient()};
    to.weight = {b, backward.getWeightGradient()};
  }
  to.input = withStatistics(b, *this, to.input, {Expression(), {b, g[1]}});
  return operandsOf(*this, to);
}

Results GroupNormOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Frame::Gradients to;
  if (g[0]) {
    auto backward = GroupNormBackwardOp::create(
        b, g[0], getInput(), getMean(), getRstd(), getWeight(),
        getNumGroupsAttr(), getChannelDimAttr());
    to = {{b, backward.getInputGradient()},
          {b, backward.getWeightGradient()},
          {b, backward.getBiasGradient()}};
  }
  to.input = withStatistics(b, *this, to.input, {{b, g[1]}, {b, g[2]}});
  return operandsOf(*this, to);
}

/// The gradients of the running statistics pass to the batch's mean and to its
/// unbiased variance, n / (n - 1) (rstd^-2 - eps).
Results BatchNormOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Frame frame = frameOf(b, *this);
  double momentum = getMomentum().convertToDouble(), n = frame.count();
  Frame::Gradients to;
  if (g[0]) {
    auto backward =
        BatchNormBackwardOp::create(b, g[0], getInput(), getMean(), getRstd(),
                                    getWeight(), getChannelDimAttr());
    to = {{b, backward.getInputGradient()},
          {b, backward.getWeightGradient()},
          {b, backward.getBiasGradient()}};
  }
  Expression mean(b, g[1]), rstd(b, g[2]), deviation(b, getRstd()), runningMean,
      runningVar;
  if (g[3]) {
    Expression gradient(b, g[3]);
    runningMean = gradient * (1 - momentum);
    Expression part = gradient * momentum;
    mean = mean ? mean + part : part;
  }
  if (g[4]) {
    Expression gradient(b, g[4]);
    runningVar = gradient * (1 - momentum);
    Expression cube = deviation * deviation * deviation;
    Expression part = gradient * (-2 * momentum * n / (n - 1)) / cube;
    rstd = rstd ? rstd + part : part;
  }
  to.input = withStatistics(b, *this, to.input, {mean, rstd});
  Results results = operandsOf(*this, to);
  results.insert(results.begin() + 1, {runningMean, runningVar});
  return results;
}

/// The gradient passes through the same map without mean and bias.
Results BatchNormInferenceOp::buildGradients(ImplicitLocOpBuilder &b,
                                             ValueRange g) {
  Frame frame = frameOf(b, *this);
  auto map = [&](Value x, Value mean, Value weight) -> Expression {
    return {b, BatchNormInferenceOp::create(b, x, mean, getRunningVar(), weight,
                                            Value(), getChannelDimAttr(),
                                            getEpsAttr())};
  };
  Expression gradient(b, g[0]), input(b, getInput()), weight(b, getWeight());
  Value zero = splat(b, getRunningMean().getType(), 0);
  Expression wide = gradient.wide();
  Expression unit = map(input.wide(), getRunningMean(), Value());
  Frame::Gradients to = {map(gradient, zero, weight),
                         frame.sumToParameter(wide * unit),
                         frame.sumToParameter(wide)};
  Expression rstd = frame.reciprocalDeviation({b, getRunningVar()},
                                              getEps().convertToDouble());
  Expression slope = weight ? rstd * weight : rstd;
  Expression mean = -(slope * to.bias);
  Expression variance = slope * rstd * to.weight * -0.5;
  Results results = operandsOf(*this, to);
  results.insert(results.begin() + 1, {mean, variance});
  return results;
}

/// All is in the compute type; the walker rounds once.
template <typename Op>
static Results differentiateBackward(ImplicitLocOpBuilder &b, Op op,
                                     ValueRange g) {
  auto wide = [&](Value value) { return Expression(b, value).wide(); };
  Frame::Gradients of = {wide(g[0]), wide(g[1]),
                         g.size() > 2 ? wide(g[2]) : Expression()};
  Expression gradient = wide(op.getGradient()), input = wide(op.getInput());
  auto to = frameOf(b, op).backwardOfBackward(
      of, gradient, input, statisticsOf(b, op), {b, op.getWeight()});
  Results results{to.gradient, to.input};
  if constexpr (requires { op.getMean(); })
    results.push_back(to.mean);
  results.push_back(to.rstd);
  if (op.getWeight())
    results.push_back(to.weight);
  return results;
}
Results LayerNormBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  return differentiateBackward(b, *this, g);
}
Results RmsNormBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                          ValueRange g) {
  return differentiateBackward(b, *this, g);
}
Results GroupNormBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  return differentiateBackward(b, *this, g);
}
Results BatchNormBackwardOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  return differentiateBackward(b, *this, g);
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static OperandSample input(StringRef shape) {
  return {("tensor<" + shape + "xf64>").str(), -2, 2};
}
/// Parameters and statistics; deviations must be positive.
static OperandSample wide(StringRef shape, double low = -1, double high = 1) {
  return {("tensor<" + shape + "xF64>").str(), low, high};
}
/// "mp.OP %0, ... ATTRIBUTES weight(%k : ...) bias(%k : ...)"; the operands
/// before these are not parameters.
static std::string call(StringRef op, ArrayRef<OperandSample> operands,
                        unsigned first, StringRef attributes) {
  std::string text = ("mp." + op).str(), types, parameters;
  static const char *const names[] = {" weight", " bias"};
  for (auto [i, operand] : llvm::enumerate(operands)) {
    std::string value = "%" + std::to_string(i);
    if (i >= first) {
      parameters += std::string(names[i - first]) + "(" + value + " : " +
                    operand.type + ")";
      continue;
    }
    text += (i ? ", " : " ") + value;
    types += (i ? ", " : " : ") + operand.type;
  }
  return text + attributes.str() + parameters + types;
}
static OpSample made(StringRef op, std::vector<OperandSample> operands,
                     unsigned first, StringRef attributes = "") {
  std::string text = call(op, operands, first, attributes);
  return {std::move(operands), std::move(text)};
}

std::vector<OpSample> LayerNormOp::sampleInputs() {
  return {made("layer_norm", {input("3x5"), wide("5"), wide("5")}, 1),
          made("layer_norm", {input("2x3x4"), wide("3x4")}, 1),
          made("layer_norm", {input("2x3x4")}, 1, " normalized_shape[4]"),
          made("layer_norm", {input("1x5"), wide("5"), wide("5")}, 1)};
}
std::vector<OpSample> LayerNormBackwardOp::sampleInputs() {
  return {made("layer_norm_backward",
               {input("3x5"), input("3x5"), wide("3x1"), wide("3x1", 0.5, 2),
                wide("5")},
               4),
          made("layer_norm_backward",
               {input("2x3x4"), input("2x3x4"), wide("2x1x1"),
                wide("2x1x1", 0.5, 2)},
               4, " normalized_shape[3, 4]")};
}
std::vector<OpSample> RmsNormOp::sampleInputs() {
  return {made("rms_norm", {input("3x5"), wide("5")}, 1),
          made("rms_norm", {input("2x3x4")}, 1,
               " normalized_shape[3, 4] {eps = 1.0e-3}")};
}
std::vector<OpSample> RmsNormBackwardOp::sampleInputs() {
  return {made("rms_norm_backward",
               {input("3x5"), input("3x5"), wide("3x1", 0.5, 2), wide("5")}, 3),
          made("rms_norm_backward",
               {input("2x4"), input("2x4"), wide("2x1", 0.5, 2)}, 3,
               " normalized_shape[4]")};
}
std::vector<OpSample> GroupNormOp::sampleInputs() {
  // Groups are of one channel, which a test enlarges, and of two.
  return {
      made("group_norm", {input("2x3x4"), wide("3"), wide("3")}, 1,
           " groups(3)"),
      made("group_norm", {input("2x4x2x3"), wide("4"), wide("4")}, 1,
           " groups(2)"),
      made("group_norm", {input("3x6"), wide("6"), wide("6")}, 1, " groups(2)"),
      made("group_norm", {input("2x4x3")}, 1, " groups(1)"),
      made("group_norm", {input("2x2x3x4"), wide("4"), wide("4")}, 1,
           " groups(2) channel_dim(3)"),
      made("group_norm", {input("2x3x4x2"), wide("4")}, 1,
           " groups(2) channel_dim(2)")};
}
std::vector<OpSample> GroupNormBackwardOp::sampleInputs() {
  return {made("group_norm_backward",
               {input("2x4x3"), input("2x4x3"), wide("2x2"),
                wide("2x2", 0.5, 2), wide("4")},
               4, " groups(2)"),
          made("group_norm_backward",
               {input("2x4"), input("2x4"), wide("2x1"), wide("2x1", 0.5, 2)},
               4, " groups(1)"),
          made("group_norm_backward",
               {input("2x3x4"), input("2x3x4"), wide("2x2"),
                wide("2x2", 0.5, 2), wide("4")},
               4, " groups(2) channel_dim(2)")};
}
/// An input, statistics of its channels, and parameters.
static std::vector<OpSample> batchSamples(StringRef op) {
  auto statistics = [](StringRef shape) {
    return std::vector<OperandSample>{input(shape), wide("3"),
                                      wide("3", 0.5, 2)};
  };
  std::vector<OpSample> samples{made(op, statistics("4x3"), 3)};
  for (const char *shape : {"5x3", "2x3x4", "2x3x2x3", "1x3x5"}) {
    auto operands = statistics(shape);
    operands.insert(operands.end(), {wide("3"), wide("3")});
    samples.push_back(made(op, operands, 3));
  }
  for (auto [shape, dim] : {std::pair("2x2x2x3", "3"), {"2x2x3x3", "2"}}) {
    auto operands = statistics(shape);
    operands.insert(operands.end(), {wide("3"), wide("3")});
    samples.push_back(
        made(op, operands, 3, (" channel_dim(" + Twine(dim) + ")").str()));
  }
  return samples;
}
std::vector<OpSample> BatchNormOp::sampleInputs() {
  return batchSamples("batch_norm");
}
std::vector<OpSample> BatchNormInferenceOp::sampleInputs() {
  return batchSamples("batch_norm_inference");
}
std::vector<OpSample> BatchNormBackwardOp::sampleInputs() {
  return {made("batch_norm_backward",
               {input("4x3"), input("4x3"), wide("3"), wide("3", 0.5, 2)}, 4),
          made("batch_norm_backward",
               {input("2x3x4"), input("2x3x4"), wide("3"), wide("3", 0.5, 2),
                wide("3")},
               4),
          made("batch_norm_backward",
               {input("2x2x2x3"), input("2x2x2x3"), wide("3"),
                wide("3", 0.5, 2), wide("3")},
               4, " channel_dim(3)")};
}
