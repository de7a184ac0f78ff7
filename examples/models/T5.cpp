//===- T5.cpp - Raffel et al. (2020) --------------------------------------===//
//
// Hugging Face's T5ForConditionalGeneration in its first version, of relu and
// tied tables. Scores are not scaled: the first values of the queries' weights
// are small. What stands for positions is a number for each head and distance,
// which is added to the scores in all layers of a stack.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Text.h"
#include <cmath>

namespace models {
namespace {

constexpr int64_t kBuckets = 32, kFarthest = 128;

/// Keys and how they are looked at.
struct Keys {
  Tensor of; ///< null: the queries' own tokens
  ScaledDotProductAttentionOptions options;
};

Tensor normalizeLast(const Tensor &x, const std::string &name) {
  return rmsNorm(x, {.name = name, .eps = 1e-6});
}

Tensor dense(Graph &net, const Tensor &x, int64_t out, const std::string &name,
             double factor = 1) {
  return project(net, x, out, name, factor * std::pow(x.size(-1), -0.5));
}

/// The number of the distance from a query to a key: near ones have their own,
/// and farther ones share more and more. A decoder's keys are before the query.
int64_t bucket(int64_t distance, bool isDecoder) {
  int64_t count = isDecoder ? kBuckets : kBuckets / 2, near = count / 2;
  int64_t after = !isDecoder && distance > 0 ? count : 0;
  int64_t away =
      isDecoder ? std::max<int64_t>(-distance, 0) : std::abs(distance);
  if (away < near)
    return after + away;
  float ratio = std::log(float(away) / float(near)) /
                float(std::log(double(kFarthest) / double(near)));
  int64_t shared = near + int64_t(ratio * float(count - near));
  return after + std::min(shared, count - 1);
}

/// What is added to the scores: [heads, tokens, tokens].
Tensor positionBias(Graph &net, const TextSizes &sizes, bool isDecoder) {
  Tensor table = net.parameter(
      "block.0.layer.0.SelfAttention.relative_attention_bias.weight", F32,
      {kBuckets, sizes.heads}, normalInit(0, std::pow(sizes.channels, -0.5)));
  int64_t last = sizes.tokens - 1;
  std::vector<double> buckets;
  for (int64_t distance = -last; distance <= last; ++distance)
    buckets.push_back(double(bucket(distance, isDecoder)));
  Tensor bucketOf = constant(net, buckets, {2 * last + 1}, I32);
  auto place = [&](int64_t dim) {
    return iota(net, {I32, {sizes.tokens, sizes.tokens}}, dim);
  };
  Tensor distance = place(1) - place(0) + last;
  return transpose(gather(gather(table, bucketOf, 0), distance, 0), {2, 0, 1});
}

/// Adds to x what the attention `layer.name` finds in the keys.
Tensor attend(Graph &net, const Tensor &x, const Keys &keys,
              const std::string &layer, const std::string &name,
              const TextSizes &sizes) {
  auto scope = net.scope(layer);
  Tensor normal = normalizeLast(x, "layer_norm");
  auto inner = net.scope(name);
  int64_t depth = sizes.channels / sizes.heads;
  auto heads = [&](const Tensor &of, const std::string &name, double factor) {
    return reshape(dense(net, of, sizes.channels, name, factor),
                   {Batch, sizes.tokens, sizes.heads, depth});
  };
  Tensor from = keys.of ? keys.of : normal;
  ScaledDotProductAttentionOptions looks = keys.options;
  dropWeights(net, looks, sizes);
  Tensor mixed = scaledDotProductAttention(
      heads(normal, "q", std::pow(depth, -0.5)), heads(from, "k", 1),
      heads(from, "v", 1), looks);
  return x + drop(dense(net, reshape(mixed, x.shape()), sizes.channels, "o"),
                  sizes);
}

Tensor feedForward(Graph &net, const Tensor &x, const std::string &layer,
                   const TextSizes &sizes) {
  auto scope = net.scope(layer);
  Tensor y = normalizeLast(x, "layer_norm");
  auto inner = net.scope("DenseReluDense");
  y = relu(dense(net, y, sizes.hidden, "wi"));
  return x + drop(dense(net, drop(y, sizes), sizes.channels, "wo"), sizes);
}

/// A stack of blocks: the encoder, or the decoder, which also looks at what
/// `encoded` has.
Tensor stack(Graph &net, const Tensor &embedded, const Tensor &lengths,
             const Tensor &encoded, const TextSizes &sizes) {
  bool isDecoder = bool(encoded);
  auto scope = net.scope(isDecoder ? "decoder" : "encoder");
  Keys own{{},
           {.mask = positionBias(net, sizes, isDecoder),
            .lengths = isDecoder ? Tensor() : lengths,
            .causal = isDecoder,
            .scale = 1}};
  Keys other{encoded, {.lengths = lengths, .scale = 1}};
  Tensor x = drop(embedded, sizes);
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    auto scope = net.scope(dotted("block", layer));
    x = attend(net, x, own, "layer.0", "SelfAttention", sizes);
    if (isDecoder)
      x = attend(net, x, other, "layer.1", "EncDecAttention", sizes);
    x = feedForward(net, x, isDecoder ? "layer.2" : "layer.1", sizes);
  }
  return drop(normalizeLast(x, "final_layer_norm"), sizes);
}

} // namespace

void t5(Graph &net, const TextSizes &sizes) {
  TextPair texts = textPair(net, sizes);
  Tensor table = tokenTable(net, "shared.weight", sizes, 1);
  Tensor encoded =
      stack(net, gather(table, texts.tokens, 0), texts.lengths, {}, sizes);
  Tensor decoded = stack(net, gather(table, shifted(texts.labels), 0),
                         texts.lengths, encoded, sizes);
  Tensor logits = linear(decoded * std::pow(sizes.channels, -0.5), table);
  predictLabelled(net, logits, texts.labels, /*first=*/1);
  trainWithAdamw(net,
                 {.params = {"*.weight", "!*layer_norm.weight"},
                  .others = {"*layer_norm.weight"}},
                 {.lr = 3e-4, .weightDecay = 0.01},
                 linear(LinearScheduleOptions{.to = 0, .warmup = 100}));
  readTexts(net, "labels");
}

} // namespace models
