//===- Gpt2.cpp - Radford et al. (2019) -----------------------------------===//
//
// Hugging Face's GPT2LMHeadModel. Its files have the weights of layers as [in,
// out]; the classifier's weight is the table of tokens.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Text.h"
#include <cmath>

namespace models {
namespace {

/// Hugging Face's Conv1D: y = x W + b, with W [in, out] in files.
Tensor conv1d(Graph &net, const Tensor &x, int64_t out, const std::string &name,
              double deviation = 0.02) {
  Tensor weight =
      net.parameter(name + ".weight", F32, {out, x.size(-1)},
                    normalInit(0, deviation), {.dimsInFiles = {1, 0}});
  return linear(x, weight,
                {.bias = net.parameter(name + ".bias", F32, {out}, zeros())});
}

Tensor attention(Graph &net, const Tensor &x, const Tensor &isSeen,
                 const TextSizes &sizes, double deviation) {
  auto scope = net.scope("attn");
  Tensor all = conv1d(net, x, 3 * sizes.channels, "c_attn");
  auto part = [&](int64_t number) {
    Tensor one =
        slice(all, {0, 0, number * sizes.channels}, {-1, -1, sizes.channels});
    return reshape(
        one, {Batch, sizes.tokens, sizes.heads, sizes.channels / sizes.heads});
  };
  ScaledDotProductAttentionOptions looks{.mask = isSeen, .causal = true};
  dropWeights(net, looks, sizes);
  Tensor mixed = scaledDotProductAttention(part(0), part(1), part(2), looks);
  return drop(conv1d(net, reshape(mixed, x.shape()), sizes.channels, "c_proj",
                     deviation),
              sizes);
}

Tensor block(Graph &net, Tensor x, const Tensor &isSeen,
             const TextSizes &sizes) {
  // Residual sums of all layers have the deviation of one.
  double deviation = 0.02 / std::sqrt(2.0 * sizes.layers);
  Tensor normal = layerNorm(x, {.name = "ln_1"});
  x = x + attention(net, normal, isSeen, sizes, deviation);
  Tensor y = layerNorm(x, {.name = "ln_2"});
  y = gelu(conv1d(net, y, 4 * sizes.channels, "mlp.c_fc"),
           {.approximate = GeluApproximation::tanh});
  y = conv1d(net, y, sizes.channels, "mlp.c_proj", deviation);
  return x + drop(y, sizes);
}

} // namespace

void gpt2(Graph &net, const TextSizes &sizes) {
  PackedTexts texts;
  if (sizes.isPacked) {
    texts = packedTexts(net, sizes);
  } else {
    texts.tokens = tokensInput(net, "x", sizes);
    texts.labels = tokensInput(net, "y", sizes);
  }
  Tensor table = tokenTable(net, "transformer.wte.weight", sizes);
  Tensor hidden;
  {
    auto scope = net.scope("transformer");
    constexpr int64_t positions = 1024;
    Tensor places = net.parameter(
        "wpe.weight", F32, {std::max(positions, sizes.tokens), sizes.channels},
        normalInit(0, 0.02));
    Tensor place = texts.positions
                       ? gather(places, texts.positions, 0)
                       : slice(places, {0, 0}, {sizes.tokens, sizes.channels});
    hidden = drop(gather(table, texts.tokens, 0) + place, sizes);
    for (int64_t layer = 0; layer < sizes.layers; ++layer) {
      auto scope = net.scope(dotted("h", layer));
      hidden = block(net, hidden, texts.isSeen, sizes);
    }
    hidden = layerNorm(hidden, {.name = "ln_f"});
  }
  Tensor logits = linear(hidden, table);
  if (sizes.isPacked)
    predictLabelled(net, logits, texts.labels);
  else
    predictTokens(net, logits, texts.labels);
  trainWithAdamw(
      net,
      {.params = {"*.weight", "!*ln_*"}, .others = {"*.bias", "*ln_*.weight"}},
      {.lr = 6e-4, .beta2 = 0.95, .weightDecay = 0.1},
      cosine({.to = 0.1, .warmup = 100}));
  if (sizes.isPacked)
    readPacked(net);
  else
    readWindows(net, sizes);
}

} // namespace models
