//===- ResNet.cpp - He et al. (2015), table 1 -----------------------------===//
//
// torchvision's resnet18, resnet34 and resnet50, which has the stride in the
// window of 3x3. Small images get a window of 3x3 at a stride of one first, and
// no pooling.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {
namespace {

Tensor convNorm(const Tensor &x, const Filter &filter,
                const std::string &number) {
  return normalize(convolve(x, filter, "conv" + number), "bn" + number);
}

/// The input, with the channels and the size that the block's result has.
Tensor shortcut(const Tensor &x, int64_t out, int64_t stride) {
  if (x.size(-1) == out && stride == 1)
    return x;
  Tensor y = convolve(x, {.out = out, .stride = stride}, "downsample.0");
  return normalize(y, "downsample.1");
}

using Block = Tensor (*)(const Tensor &x, int64_t channels, int64_t stride);

Tensor basic(const Tensor &x, int64_t channels, int64_t stride) {
  Filter three{.out = channels, .kernel = 3, .padding = 1}, first = three;
  first.stride = stride;
  Tensor y = convNorm(relu(convNorm(x, first, "1")), three, "2");
  return relu(y + shortcut(x, channels, stride));
}

/// Windows of 3x3 on a fourth of the channels.
Tensor bottleneck(const Tensor &x, int64_t channels, int64_t stride) {
  Tensor y = relu(convNorm(x, {.out = channels}, "1"));
  y = relu(convNorm(
      y, {.out = channels, .kernel = 3, .stride = stride, .padding = 1}, "2"));
  y = convNorm(y, {.out = 4 * channels}, "3");
  return relu(y + shortcut(x, 4 * channels, stride));
}

Tensor resnet(Graph &net, Tensor x, int64_t classes, const Width &width,
              Block block, std::initializer_list<int64_t> blocks) {
  if (isSmall(x))
    x = relu(convNorm(x, {.out = width(64), .kernel = 3, .padding = 1}, "1"));
  else
    x = maxPool(
        relu(convNorm(
            x, {.out = width(64), .kernel = 7, .stride = 2, .padding = 3},
            "1")),
        3, 2, 1);
  int64_t stage = 0;
  for (int64_t count : blocks) {
    int64_t channels = width(64 << stage++);
    for (int64_t number = 0; number < count; ++number) {
      auto scope = net.scope(dotted("layer" + std::to_string(stage), number));
      x = block(x, channels, stage > 1 && number == 0 ? 2 : 1);
    }
  }
  return linear(poolAll(x), {.out = classes, .name = "fc"});
}

} // namespace

Logits resnet18(Graph &net, Tensor x, int64_t classes, const Width &width) {
  return resnet(net, x, classes, width, basic, {2, 2, 2, 2});
}
Logits resnet34(Graph &net, Tensor x, int64_t classes, const Width &width) {
  return resnet(net, x, classes, width, basic, {3, 4, 6, 3});
}
Logits resnet50(Graph &net, Tensor x, int64_t classes, const Width &width) {
  return resnet(net, x, classes, width, bottleneck, {3, 4, 6, 3});
}

/// Section 4.2, for n = 3: a shortcut that halves the images takes every second
/// pixel, and zeros are its new channels.
Logits resnet20(Graph &net, Tensor x, int64_t classes, const Width &width) {
  auto block = [](const Tensor &x, int64_t out, int64_t stride) {
    Filter three{.out = out, .kernel = 3, .padding = 1}, first = three;
    first.stride = stride;
    Tensor y = convNorm(relu(convNorm(x, first, "1")), three, "2");
    if (stride == 1)
      return relu(y + x);
    Tensor rest = slice(x, {0, 0, 0, 0}, {-1, -1, -1, -1},
                        {.strides = Dims{1, stride, stride, 1}});
    return relu(y + pad(rest, {0, 0, 0, 0}, {0, 0, 0, out - x.size(-1)}));
  };
  x = relu(convNorm(x, {.out = width(16), .kernel = 3, .padding = 1}, "1"));
  for (int64_t stage = 1; stage <= 3; ++stage)
    for (int64_t number = 0; number < 3; ++number) {
      auto scope = net.scope(dotted("layer" + std::to_string(stage), number));
      x = block(x, width(8 << stage), stage > 1 && number == 0 ? 2 : 1);
    }
  return linear(poolAll(x), {.out = classes, .name = "linear"});
}

} // namespace models
