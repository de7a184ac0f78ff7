//===- MobileNetV2.cpp - Sandler et al. (2018), table 2 -------------------===//
//
// torchvision's mobilenet_v2. Small images keep their size in the first layer
// and in the second row of the table.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {
namespace {

Tensor relu6(const Tensor &x) { return clamp(x, {.min = 0.0, .max = 6.0}); }

/// name.0 and name.1, and relu6.
Tensor convNorm(const Tensor &x, const Filter &filter,
                const std::string &name) {
  return relu6(normalize(convolve(x, filter, name + ".0"), name + ".1"));
}

/// Channels are multiplied, summed by windows channel by channel, and
/// projected.
Tensor invertedResidual(Graph &net, const Tensor &x, int64_t expansion,
                        int64_t out, int64_t stride, int64_t number) {
  auto scope = net.scope(dotted("features", number) + ".conv");
  int64_t inner = x.size(-1) * expansion, layer = 0;
  Tensor y = x;
  if (expansion != 1)
    y = convNorm(y, {.out = inner}, std::to_string(layer++));
  y = convNorm(y,
               {.out = inner,
                .kernel = 3,
                .stride = stride,
                .padding = 1,
                .groups = inner},
               std::to_string(layer++));
  y = convolve(y, {.out = out}, std::to_string(layer));
  y = normalize(y, std::to_string(layer + 1));
  return stride == 1 && x.size(-1) == out ? x + y : y;
}

/// A row of the table: expansion, channels, blocks and the first one's stride.
struct Row {
  int64_t expansion, out, count, stride;
};

} // namespace

Logits mobilenetV2(Graph &net, Tensor x, int64_t classes, const Width &width) {
  int64_t first = isSmall(x) ? 1 : 2, number = 1;
  x = convNorm(x,
               {.out = width(32), .kernel = 3, .stride = first, .padding = 1},
               "features.0");
  for (auto [expansion, out, count, stride] :
       {Row{1, 16, 1, 1}, Row{6, 24, 2, first}, Row{6, 32, 3, 2},
        Row{6, 64, 4, 2}, Row{6, 96, 3, 1}, Row{6, 160, 3, 2},
        Row{6, 320, 1, 1}})
    for (int64_t i = 0; i < count; ++i)
      x = invertedResidual(net, x, expansion, width(out), i ? 1 : stride,
                           number++);
  // As in torchvision, narrow networks keep the last layer's channels.
  int64_t last = width.factor > 1 ? width(1280) : 1280;
  x = convNorm(x, {.out = last}, dotted("features", number));
  x = dropout(poolAll(x), {.p = 0.2});
  return linear(x, {.out = classes, .name = "classifier.1"});
}

} // namespace models
