//===- VitBase.cpp - Dosovitskiy et al. (2020), ViT-B/16 ------------------===//
//
// Hugging Face's ViTForImageClassification: 12 layers of 768 channels in 12
// heads. Small images are cut into squares of 4 pixels instead of 16.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {
namespace {

constexpr int64_t kHeads = 12, kLayers = 12;

Tensor normalizeLast(const Tensor &x, const std::string &name) {
  return layerNorm(x, {.name = name, .eps = 1e-12});
}

Tensor dense(const Tensor &x, int64_t out, const std::string &name) {
  return linear(x, {.out = out, .name = name});
}

Tensor attention(const Tensor &x) {
  auto heads = [&](const std::string &name) {
    return reshape(dense(x, x.size(2), "attention.attention." + name),
                   {Batch, x.size(1), kHeads, x.size(2) / kHeads});
  };
  Tensor mixed =
      scaledDotProductAttention(heads("query"), heads("key"), heads("value"));
  return dense(reshape(mixed, x.shape()), x.size(2), "attention.output.dense");
}

Tensor encoderLayer(Tensor x) {
  x = x + attention(normalizeLast(x, "layernorm_before"));
  Tensor y = normalizeLast(x, "layernorm_after");
  y = gelu(dense(y, 4 * x.size(2), "intermediate.dense"));
  return x + dense(y, x.size(2), "output.dense");
}

/// The patches after a token for the class: [batch, 1 + patches, channels].
Tensor embed(Graph &net, Tensor x, int64_t channels) {
  auto scope = net.scope("embeddings");
  int64_t patch = isSmall(x) ? 4 : 16;
  x = convolve(
      x, {.out = channels, .kernel = patch, .stride = patch, .bias = true},
      "patch_embeddings.projection");
  Tensor token = net.parameter("cls_token", F32, {1, 1, channels}, zeros());
  x = concat({broadcast(token, {Batch, 1, channels}), flatten(x, 1, 2)}, 1);
  return x + net.parameter("position_embeddings", F32, {1, x.size(1), channels},
                           normalInit(0, 0.02));
}

} // namespace

Logits vitBase(Graph &net, Tensor x, int64_t classes, const Width &width) {
  {
    auto scope = net.scope("vit");
    // Each head has a multiple of 8 channels.
    x = embed(net, x, kHeads * width(768 / kHeads));
    for (int64_t layer = 0; layer < kLayers; ++layer) {
      auto scope = net.scope(dotted("encoder.layer", layer));
      x = encoderLayer(x);
    }
    x = normalizeLast(x, "layernorm");
  }
  return dense(flatten(slice(x, {0, 0, 0}, {-1, 1, -1})), classes,
               "classifier");
}

} // namespace models
