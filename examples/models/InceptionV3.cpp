//===- InceptionV3.cpp - Szegedy et al. (2015), table 1 -------------------===//
//
// torchvision's inception_v3, for images of 299 pixels; small ones keep their
// size in the first layers, and are not pooled before the loss in the middle.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {
namespace {

class Inception {
public:
  Inception(Graph &net, const Width &width) : net(net), width(width) {}

  Tensor conv(const Tensor &from, int64_t out, const HeightWidth &kernel,
              const std::string &name, const Filter &more = {.out = 0}) {
    Filter filter = more;
    filter.out = width(out);
    filter.kernel = kernel;
    return basicConv(from, filter, name);
  }
  /// At a stride of one, as many pixels as before.
  Tensor same(const Tensor &from, int64_t out, const HeightWidth &kernel,
              const std::string &name) {
    return conv(from, out, kernel, name,
                {.out = 0, .padding = {kernel.height / 2, kernel.width / 2}});
  }
  Tensor half(const Tensor &from, int64_t out, const std::string &name) {
    return conv(from, out, 3, name, {.out = 0, .stride = 2});
  }

  /// Figure 5: 35x35.
  Tensor a(const Tensor &x, int64_t pooled, const std::string &name) {
    auto scope = net.scope(name);
    Tensor five = same(conv(x, 48, 1, "branch5x5_1"), 64, 5, "branch5x5_2");
    Tensor twice =
        same(conv(x, 64, 1, "branch3x3dbl_1"), 96, 3, "branch3x3dbl_2");
    twice = same(twice, 96, 3, "branch3x3dbl_3");
    return concat({conv(x, 64, 1, "branch1x1"), five, twice,
                   conv(avgPool(x, 3, 1, 1), pooled, 1, "branch_pool")},
                  3);
  }
  /// From 35x35 to 17x17.
  Tensor b(const Tensor &x, const std::string &name) {
    auto scope = net.scope(name);
    Tensor twice =
        same(conv(x, 64, 1, "branch3x3dbl_1"), 96, 3, "branch3x3dbl_2");
    return concat({half(x, 384, "branch3x3"), half(twice, 96, "branch3x3dbl_3"),
                   maxPool(x, 3, 2)},
                  3);
  }
  /// Figure 6: 17x17, with windows of 1x7 and 7x1 of `inner` channels.
  Tensor c(const Tensor &x, int64_t inner, const std::string &name) {
    auto scope = net.scope(name);
    Tensor seven = conv(x, inner, 1, "branch7x7_1");
    seven = same(seven, inner, {1, 7}, "branch7x7_2");
    seven = same(seven, 192, {7, 1}, "branch7x7_3");
    Tensor twice = conv(x, inner, 1, "branch7x7dbl_1");
    twice = same(twice, inner, {7, 1}, "branch7x7dbl_2");
    twice = same(twice, inner, {1, 7}, "branch7x7dbl_3");
    twice = same(twice, inner, {7, 1}, "branch7x7dbl_4");
    twice = same(twice, 192, {1, 7}, "branch7x7dbl_5");
    return concat({conv(x, 192, 1, "branch1x1"), seven, twice,
                   conv(avgPool(x, 3, 1, 1), 192, 1, "branch_pool")},
                  3);
  }
  /// From 17x17 to 8x8.
  Tensor d(const Tensor &x, const std::string &name) {
    auto scope = net.scope(name);
    Tensor three = half(conv(x, 192, 1, "branch3x3_1"), 320, "branch3x3_2");
    Tensor seven = conv(x, 192, 1, "branch7x7x3_1");
    seven = same(seven, 192, {1, 7}, "branch7x7x3_2");
    seven = same(seven, 192, {7, 1}, "branch7x7x3_3");
    seven = half(seven, 192, "branch7x7x3_4");
    return concat({three, seven, maxPool(x, 3, 2)}, 3);
  }
  /// Figure 7: 8x8.
  Tensor e(const Tensor &x, const std::string &name) {
    auto scope = net.scope(name);
    auto both = [&](const Tensor &from, const std::string &first,
                    const std::string &second) {
      return concat(
          {same(from, 384, {1, 3}, first), same(from, 384, {3, 1}, second)}, 3);
    };
    Tensor three = conv(x, 384, 1, "branch3x3_1");
    Tensor twice =
        same(conv(x, 448, 1, "branch3x3dbl_1"), 384, 3, "branch3x3dbl_2");
    return concat({conv(x, 320, 1, "branch1x1"),
                   both(three, "branch3x3_2a", "branch3x3_2b"),
                   both(twice, "branch3x3dbl_3a", "branch3x3dbl_3b"),
                   conv(avgPool(x, 3, 1, 1), 192, 1, "branch_pool")},
                  3);
  }
  /// For 17x17, which is pooled to 5x5. What is smaller is so already.
  Tensor auxiliary(const Tensor &x, int64_t classes) {
    auto scope = net.scope("AuxLogits");
    Tensor pooled = x.size(1) < 17 ? x : avgPool(x, 5, 3);
    Tensor y = conv(pooled, 128, 1, "conv0");
    return linear(poolAll(conv(y, 768, 5, "conv1")),
                  {.out = classes, .name = "fc"});
  }

private:
  Graph &net;
  const Width &width;
};

} // namespace

Logits inceptionV3(Graph &net, Tensor x, int64_t classes, const Width &width) {
  Inception layers(net, width);
  bool small = isSmall(x);
  if (small) {
    x = layers.same(x, 32, 3, "Conv2d_1a_3x3");
    x = layers.same(x, 32, 3, "Conv2d_2a_3x3");
  } else {
    x = layers.half(x, 32, "Conv2d_1a_3x3");
    x = layers.conv(x, 32, 3, "Conv2d_2a_3x3");
  }
  x = layers.same(x, 64, 3, "Conv2d_2b_3x3");
  x = small ? x : maxPool(x, 3, 2);
  x = layers.conv(x, 80, 1, "Conv2d_3b_1x1");
  x = small ? layers.same(x, 192, 3, "Conv2d_4a_3x3")
            : layers.conv(x, 192, 3, "Conv2d_4a_3x3");
  x = maxPool(x, 3, 2);
  x = layers.a(x, 32, "Mixed_5b");
  x = layers.a(x, 64, "Mixed_5c");
  x = layers.a(x, 64, "Mixed_5d");
  x = layers.b(x, "Mixed_6a");
  x = layers.c(x, 128, "Mixed_6b");
  x = layers.c(x, 160, "Mixed_6c");
  x = layers.c(x, 160, "Mixed_6d");
  x = layers.c(x, 192, "Mixed_6e");
  std::vector<Tensor> auxiliary;
  if (x.size(1) >= 5)
    auxiliary.push_back(layers.auxiliary(x, classes));
  x = layers.d(x, "Mixed_7a");
  x = layers.e(x, "Mixed_7b");
  x = layers.e(x, "Mixed_7c");
  Logits logits = linear(dropout(poolAll(x)), {.out = classes, .name = "fc"});
  logits.auxiliary = std::move(auxiliary);
  logits.auxiliaryWeight = 0.3;
  return logits;
}

} // namespace models
