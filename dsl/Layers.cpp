//===- Layers.cpp - layers that own their variables -----------------------===//
#include "dsl/Layers.h"
#include <algorithm>
#include <cmath>
#include <numbers>

namespace mantissa {

/// Reports a mistake of a layer, with the type of its operand.
static Tensor refuse(const Operand &input, const std::string &layer,
                     const std::string &what) {
  return Graph::of(input.tensor)
      .mistake(layer + " on " + input.tensor.type() + ": " + what, input.place);
}

/// Whether the layer may go on: there is a tensor, with so many dimensions.
static bool hasRank(const Operand &input, const std::string &layer,
                    int64_t least) {
  if (!input.tensor)
    return false;
  if (input.tensor.rank() >= least)
    return true;
  refuse(input, layer,
         "expected at least " + std::to_string(least) + " dimensions");
  return false;
}

static std::string named(const std::string &layer, const char *variable) {
  return layer.empty() ? variable : layer + "." + variable;
}

/// Gives the op of a layer the layer's name, if it has one.
static Tensor ofLayer(const Tensor &result, const std::string &layer) {
  return layer.empty() ? result : result.named(layer);
}

Tensor linear(const Operand &input, const Linear &layer) {
  if (!hasRank(input, "linear '" + layer.name + "'", 1))
    return input.tensor;
  int64_t in = input.tensor.size(-1);
  if (layer.out <= 0)
    return refuse(input, "linear '" + layer.name + "'",
                  "out is " + std::to_string(layer.out) +
                      ", expected the number of features");
  if (in == Batch)
    return refuse(input, "linear '" + layer.name + "'",
                  "the last dimension is not known");
  Graph &net = Graph::of(input.tensor);
  ElementType element = input.tensor.element();
  Tensor weight = net.parameter(named(layer.name, "weight"), element,
                                {layer.out, in}, kaimingUniform(), input.place);
  if (!layer.bias)
    return ofLayer(linear(input, Operand(weight, input.place)), layer.name);
  Tensor bias = net.parameter(named(layer.name, "bias"), element, {layer.out},
                              uniformFanIn(in), input.place);
  return ofLayer(linear(input, Operand(weight, input.place), {.bias = bias}),
                 layer.name);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// "3", or "1x7".
static std::string text(const HeightWidth &size) {
  std::string height = std::to_string(size.height);
  return size.height == size.width ? height
                                   : height + "x" + std::to_string(size.width);
}

/// Returns what is wrong in a layer's numbers, or "". `split` is the number of
/// channels that groups share out in the weight.
template <typename Layer>
static std::string mistakeIn(const Layer &layer, int64_t in, int64_t split) {
  if (layer.out <= 0 || layer.kernel.height <= 0 || layer.kernel.width <= 0)
    return std::to_string(layer.out) + " channels by a window of " +
           text(layer.kernel) + ", expected at least 1 of both";
  if (in == Batch)
    return "the number of channels is not known";
  if (layer.groups <= 0 || split % layer.groups)
    return std::to_string(split) + " channels in " +
           std::to_string(layer.groups) + " groups";
  return "";
}

/// Declares the weight [first, height, width, last] of a layer, which files
/// have in PyTorch's order, and its bias; sets the options that are not the
/// defaults.
template <typename Options, typename Layer>
static Tensor declare(const Operand &input, const Layer &layer, int64_t first,
                      int64_t last, Options &options) {
  Graph &net = Graph::of(input.tensor);
  ElementType element = input.tensor.element();
  auto dims = [](const HeightWidth &pair) {
    return Dims{pair.height, pair.width};
  };
  auto [height, width] = layer.kernel;
  Initializer initial = kaimingUniform();
  if constexpr (requires { layer.init; })
    initial = layer.init;
  Tensor weight = net.parameter(named(layer.name, "weight"), element,
                                {first, height, width, last}, initial,
                                {.dimsInFiles = {0, 3, 1, 2}}, input.place);
  if (layer.bias)
    options.bias =
        net.parameter(named(layer.name, "bias"), element, {layer.out},
                      uniformFanIn(height * width * last), input.place);
  if (layer.stride != 1)
    options.strides = dims(layer.stride);
  if (layer.padding != 0)
    options.low = options.high = dims(layer.padding);
  if (layer.dilation != 1)
    options.dilations = dims(layer.dilation);
  if (layer.groups != 1)
    options.groups = layer.groups;
  return weight;
}

Tensor conv2d(const Operand &input, const Conv2d &layer) {
  std::string what = "conv2d '" + layer.name + "'";
  if (!hasRank(input, what, 4))
    return input.tensor;
  int64_t in = input.tensor.size(-1);
  if (std::string mistake = mistakeIn(layer, in, in); !mistake.empty())
    return refuse(input, what, mistake);
  Conv2dOptions options;
  Tensor weight = declare(input, layer, layer.out, in / layer.groups, options);
  return ofLayer(conv2d(input, Operand(weight, input.place), options),
                 layer.name);
}

/// Returns the size of the result along a dimension of `size`, or sets what is
/// wrong. PyTorch has the same limit.
static int64_t sizeAlong(const ConvTranspose2d &layer, int64_t size,
                         int64_t HeightWidth::*dim, std::string &mistake) {
  int64_t stride = layer.stride.*dim, dilation = layer.dilation.*dim,
          more = layer.outputPadding.*dim, limit = std::max(stride, dilation);
  if (size == Batch)
    mistake = "the size of the images is not known";
  else if (more < 0 || more >= limit)
    mistake = "an output padding of " + std::to_string(more) +
              ", expected less than the stride or the dilation, " +
              std::to_string(limit);
  if (!mistake.empty())
    return 0;
  int64_t span = dilation * (layer.kernel.*dim - 1) + 1;
  return (size - 1) * stride - 2 * (layer.padding.*dim) + span + more;
}

Tensor convTranspose2d(const Operand &input, const ConvTranspose2d &layer) {
  std::string what = "convTranspose2d '" + layer.name + "'";
  if (!hasRank(input, what, 4))
    return input.tensor;
  int64_t in = input.tensor.size(-1);
  std::string mistake = mistakeIn(layer, in, layer.out);
  if (mistake.empty() && in % layer.groups)
    mistake = mistakeIn(layer, in, in);
  Dims size;
  for (auto dim : {&HeightWidth::height, &HeightWidth::width})
    if (mistake.empty())
      size.push_back(
          sizeAlong(layer, input.tensor.size(1 + size.size()), dim, mistake));
  if (!mistake.empty())
    return refuse(input, what, mistake);
  ConvTranspose2dOptions options;
  Tensor weight = declare(input, layer, in, layer.out / layer.groups, options);
  return ofLayer(
      convTranspose2d(input, Operand(weight, input.place), size, options),
      layer.name);
}

//===----------------------------------------------------------------------===//
// Embeddings and norms
//===----------------------------------------------------------------------===//

Tensor embedding(const Operand &indices, const Embedding &layer) {
  if (!indices.tensor)
    return indices.tensor;
  if (layer.count <= 0 || layer.width <= 0)
    return refuse(indices, "embedding '" + layer.name + "'",
                  "its table is " + std::to_string(layer.count) + "x" +
                      std::to_string(layer.width));
  Tensor table =
      Graph::of(indices.tensor)
          .parameter(named(layer.name, "weight"), F32,
                     {layer.count, layer.width}, normalInit(), indices.place);
  return ofLayer(gather(Operand(table, indices.place), indices, 0), layer.name);
}

Tensor multiheadAttention(const Operand &input,
                          const MultiheadAttention &layer) {
  std::string described = "multiheadAttention '" + layer.name + "'";
  if (!hasRank(input, described, 3))
    return input.tensor;
  int64_t tokens = input.tensor.size(1), channels = input.tensor.size(2);
  if (input.tensor.rank() != 3)
    return refuse(input, described, "expected [batch, tokens, channels]");
  if (layer.heads <= 0 || channels % layer.heads)
    return refuse(input, described,
                  std::to_string(channels) + " channels in " +
                      std::to_string(layer.heads) + " heads");
  Graph &net = Graph::of(input.tensor);
  ElementType element = input.tensor.element();
  Tensor weight =
      net.parameter(named(layer.name, "in_proj_weight"), element,
                    {3 * channels, channels}, xavierUniform(), input.place);
  Tensor bias;
  if (layer.bias)
    bias = net.parameter(named(layer.name, "in_proj_bias"), element,
                         {3 * channels}, zeros(), input.place);
  Tensor all = linear(input, Operand(weight, input.place), {.bias = bias});
  Dims heads{input.tensor.size(0), tokens, layer.heads, channels / layer.heads};
  auto part = [&](int64_t number) {
    Tensor one = slice(all, {0, 0, number * channels}, {-1, -1, channels});
    return reshape(one, heads);
  };
  Tensor mixed =
      scaledDotProductAttention(part(0), part(1), part(2), layer.options);
  return ofLayer(
      linear(Operand(reshape(mixed, input.tensor.shape()), input.place),
             {.out = channels,
              .name = named(layer.name, "out_proj"),
              .bias = layer.bias}),
      layer.name);
}

Tensor layerNorm(const Operand &input, const LayerNorm &layer) {
  if (!hasRank(input, "layerNorm '" + layer.name + "'", 1))
    return input.tensor;
  LayerNormOptions options{.normalizedShape = Dims{input.tensor.size(-1)},
                           .eps = layer.eps};
  if (layer.affine) {
    Graph &net = Graph::of(input.tensor);
    Dims shape = {input.tensor.size(-1)};
    options.weight = net.parameter(named(layer.name, "weight"), F32, shape,
                                   ones(), input.place);
    options.bias = net.parameter(named(layer.name, "bias"), F32, shape, zeros(),
                                 input.place);
  }
  return ofLayer(layerNorm(input, options), layer.name);
}

Tensor rmsNorm(const Operand &input, const RmsNorm &layer) {
  if (!hasRank(input, "rmsNorm '" + layer.name + "'", 1))
    return input.tensor;
  Dims shape = {input.tensor.size(-1)};
  Tensor weight = Graph::of(input.tensor)
                      .parameter(named(layer.name, "weight"), F32, shape,
                                 ones(), input.place);
  return ofLayer(rmsNorm(input, RmsNormOptions{.weight = weight,
                                               .normalizedShape = shape,
                                               .eps = layer.eps}),
                 layer.name);
}

Tensor batchNorm(const Operand &input, const BatchNorm &layer) {
  if (!hasRank(input, "batchNorm '" + layer.name + "'",
               std::max<int64_t>(layer.channelDim + 1, 2)))
    return input.tensor;
  Graph &net = Graph::of(input.tensor);
  Dims shape = {input.tensor.size(layer.channelDim)};
  auto name = [&](const char *variable) { return named(layer.name, variable); };
  Tensor weight =
      net.parameter(name("weight"), F32, shape, ones(), input.place);
  Tensor bias = net.parameter(name("bias"), F32, shape, zeros(), input.place);
  Tensor mean =
      net.buffer(name("running_mean"), F32, shape, zeros(), input.place);
  Tensor variance =
      net.buffer(name("running_var"), F32, shape, ones(), input.place);
  BatchNormResults results = batchNorm(
      input, Operand(mean, input.place), Operand(variance, input.place),
      BatchNormOptions{.weight = weight,
                       .bias = bias,
                       .channelDim = layer.channelDim,
                       .momentum = layer.momentum,
                       .eps = layer.eps});
  net.write(name("running_mean"), Operand(results.newRunningMean, input.place));
  net.write(name("running_var"), Operand(results.newRunningVar, input.place));
  return ofLayer(results, layer.name);
}

/// A frequency, in radians a position, as the scaling changes it.
static double scaled(double frequency, const RotaryScaling &scaling) {
  double turns = double(scaling.tokens) * frequency / (2 * std::numbers::pi);
  double kept = std::clamp((turns - scaling.low) / (scaling.high - scaling.low),
                           0.0, 1.0);
  return kept * frequency + (1 - kept) * frequency / scaling.factor;
}

/// Returns what is wrong in the numbers, or "".
static std::string mistakeIn(const Rotary &rotary) {
  const std::optional<RotaryScaling> &scaling = rotary.scaling;
  if (rotary.tokens < 1 || rotary.channels < 2 || rotary.channels % 2 != 0 ||
      !(rotary.base > 0))
    return "tokens, pairs of channels and a base above zero";
  if (scaling && (scaling->tokens < 1 || !(scaling->factor > 0) ||
                  !(scaling->low < scaling->high)))
    return "a scaling with a factor above zero, tokens, and less low than high";
  return "";
}

RotaryAngles rotaryAngles(const Context &context, const Rotary &rotary) {
  Place place = context.place;
  if (std::string expected = mistakeIn(rotary); !expected.empty()) {
    Tensor none = context.graph.mistake(
        "rotaryAngles of " + std::to_string(rotary.tokens) + " tokens and " +
            std::to_string(rotary.channels) + " channels to the base " +
            std::to_string(rotary.base) + ": expected " + expected,
        place);
    return {none, none};
  }
  int64_t pairs = rotary.channels / 2;
  std::vector<double> frequencies;
  for (int64_t i = 0; i < pairs; ++i) {
    double frequency = std::pow(rotary.base, -double(i) / double(pairs));
    frequencies.push_back(rotary.scaling ? scaled(frequency, *rotary.scaling)
                                         : frequency);
  }
  Tensor token = iota(context, {I32, {rotary.tokens, pairs}}, 0);
  Tensor position = cast(Operand(token, place), F32);
  Tensor frequency = constant(context, frequencies, {pairs});
  Tensor angle = mul(Operand(position, place), Operand(frequency, place));
  return {cos(Operand(angle, place)), sin(Operand(angle, place))};
}

} // namespace mantissa
