//===- VitTiny.cpp - Dosovitskiy et al. (2020), as small as DeiT-Ti -------===//
//
// 12 layers of 192 channels in 3 heads, with the names of torchvision's
// VisionTransformer. Small images are cut into squares of 4 pixels instead
// of 16.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {
namespace {

constexpr int64_t kHeads = 3, kLayers = 12;

Tensor normalizeLast(const Tensor &x, const std::string &name) {
  return layerNorm(x, {.name = name, .eps = 1e-6});
}

Tensor encoderLayer(Tensor x) {
  x = x + multiheadAttention(normalizeLast(x, "ln_1"),
                             {.heads = kHeads, .name = "self_attention"});
  Tensor y = normalizeLast(x, "ln_2");
  y = gelu(linear(y, {.out = 4 * x.size(-1), .name = "mlp.0"}));
  return x + linear(y, {.out = x.size(-1), .name = "mlp.3"});
}

Tensor encode(Graph &net, Tensor x) {
  auto encoder = net.scope("encoder");
  x = x + net.parameter("pos_embedding", F32, {1, x.size(1), x.size(2)},
                        normalInit(0, 0.02));
  for (int64_t number = 0; number < kLayers; ++number) {
    auto scope = net.scope("layers.encoder_layer_" + std::to_string(number));
    x = encoderLayer(x);
  }
  return normalizeLast(x, "ln");
}

} // namespace

Logits vitTiny(Graph &net, Tensor x, int64_t classes, const Width &width) {
  // Each head has a multiple of 8 channels.
  int64_t patch = isSmall(x) ? 4 : 16, channels = kHeads * width(192 / kHeads);
  x = convolve(
      x, {.out = channels, .kernel = patch, .stride = patch, .bias = true},
      "conv_proj");
  x = flatten(x, 1, 2); // [batch, patches, channels]
  Tensor token = net.parameter("class_token", F32, {1, 1, channels}, zeros());
  x = concat({broadcast(token, {Batch, 1, channels}), x}, 1);
  x = encode(net, x);
  return linear(flatten(slice(x, {0, 0, 0}, {-1, 1, -1})),
                {.out = classes, .name = "heads.head"});
}

} // namespace models
