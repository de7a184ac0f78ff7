//===- MlpMixer.cpp - Tolstikhin et al. (2021), S/16 ----------------------===//
//
// Names are those of timm's mixer_s16_224. Small images are cut into squares of
// 4 pixels instead of 16.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {

static Tensor perceptron(const Tensor &x, int64_t inner) {
  Tensor y = gelu(linear(x, {.out = inner, .name = "fc1"}));
  return linear(y, {.out = x.size(-1), .name = "fc2"});
}

Logits mlpMixer(Graph &net, Tensor x, int64_t classes, const Width &width) {
  int64_t patch = isSmall(x) ? 4 : 16, channels = width(512);
  x = convolve(
      x, {.out = channels, .kernel = patch, .stride = patch, .bias = true},
      "stem.proj");
  x = flatten(x, 1, 2); // [batch, patches, channels]
  for (int64_t number = 0; number < 8; ++number) {
    auto block = net.scope(dotted("blocks", number));
    Tensor y =
        transpose(layerNorm(x, {.name = "norm1", .eps = 1e-6}), {0, 2, 1});
    {
      auto scope = net.scope("mlp_tokens");
      x = x + transpose(perceptron(y, channels / 2), {0, 2, 1});
    }
    y = layerNorm(x, {.name = "norm2", .eps = 1e-6});
    auto scope = net.scope("mlp_channels");
    x = x + perceptron(y, channels * 4);
  }
  x = mean(layerNorm(x, {.name = "norm", .eps = 1e-6}), {1});
  return linear(x, {.out = classes, .name = "head"});
}

} // namespace models
