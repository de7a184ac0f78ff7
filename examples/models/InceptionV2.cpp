//===- InceptionV2.cpp - Ioffe and Szegedy (2015), figure 5 ---------------===//
//
// GoogLeNet with batch norm, and two windows of 3x3 for one of 5x5. torchvision
// has no such network; the names are those that its googlenet would have.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {
namespace {

/// The columns of the paper's table. Without `one`, the block halves the images
/// and passes its input's maxima on.
struct Columns {
  int64_t one, threeReduced, three, doubleReduced, doubled, pooled;
  bool takesMaximum = false;
};

Tensor inception(Graph &net, const Tensor &x, const Columns &of,
                 const Width &width, const std::string &name) {
  auto scope = net.scope("inception" + name);
  auto one = [&](const Tensor &from, int64_t out, const char *branch) {
    return basicConv(from, {.out = width(out)}, branch);
  };
  auto three = [&](const Tensor &from, int64_t out, int64_t stride,
                   const char *branch) {
    return basicConv(
        from, {.out = width(out), .kernel = 3, .stride = stride, .padding = 1},
        branch);
  };
  int64_t stride = of.one ? 1 : 2;
  Tensor single = three(one(x, of.threeReduced, "branch2.0"), of.three, stride,
                        "branch2.1");
  Tensor twice =
      three(one(x, of.doubleReduced, "branch3.0"), of.doubled, 1, "branch3.1");
  twice = three(twice, of.doubled, stride, "branch3.2");
  if (!of.one)
    return concat({single, twice, maxPool(x, 3, 2, 1)}, 3);
  Tensor pooled = of.takesMaximum ? maxPool(x, 3, 1, 1) : avgPool(x, 3, 1, 1);
  return concat({one(x, of.one, "branch1"), single, twice,
                 one(pooled, of.pooled, "branch4.1")},
                3);
}

} // namespace

Logits inceptionV2(Graph &net, Tensor x, int64_t classes, const Width &width) {
  auto block = [&](const char *name, const Columns &columns) {
    x = inception(net, x, columns, width, name);
  };
  if (isSmall(x)) {
    x = basicConv(x, {.out = width(64), .kernel = 3, .padding = 1}, "conv1");
  } else {
    x = basicConv(x, {.out = width(64), .kernel = 7, .stride = 2, .padding = 3},
                  "conv1");
    x = maxPool(x, 3, 2, 1);
  }
  x = basicConv(x, {.out = width(64)}, "conv2");
  x = basicConv(x, {.out = width(192), .kernel = 3, .padding = 1}, "conv3");
  x = maxPool(x, 3, 2, 1);
  block("3a", {64, 64, 64, 64, 96, 32});
  block("3b", {64, 64, 96, 64, 96, 64});
  block("3c", {0, 128, 160, 64, 96, 0});
  block("4a", {224, 64, 96, 96, 128, 128});
  block("4b", {192, 96, 128, 96, 128, 128});
  block("4c", {160, 128, 160, 128, 160, 96});
  block("4d", {96, 128, 192, 160, 192, 96});
  block("4e", {0, 128, 192, 192, 256, 0});
  block("5a", {352, 192, 320, 160, 224, 128});
  block("5b", {352, 192, 320, 192, 224, 128, true});
  return linear(poolAll(x), {.out = classes, .name = "fc"});
}

} // namespace models
