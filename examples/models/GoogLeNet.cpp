//===- GoogLeNet.cpp - Szegedy et al. (2014), table 1 ---------------------===//
//
// torchvision's googlenet: with batch norm, and 3x3 where the paper has 5x5.
// The losses of two layers in the middle count 0.3 each in training.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {
namespace {

/// The columns of the paper's table.
struct Columns {
  int64_t one, threeReduced, three, fiveReduced, five, pooled;
};

class GoogLeNet {
public:
  GoogLeNet(Graph &net, const Width &width) : net(net), width(width) {}

  Tensor inception(const Tensor &x, const Columns &of,
                   const std::string &name) {
    auto scope = net.scope("inception" + name);
    auto one = [&](const Tensor &from, int64_t out, const char *branch) {
      return basicConv(from, {.out = width(out)}, branch);
    };
    auto three = [&](const Tensor &from, int64_t out, const char *branch) {
      return basicConv(from, {.out = width(out), .kernel = 3, .padding = 1},
                       branch);
    };
    return concat(
        {one(x, of.one, "branch1"),
         three(one(x, of.threeReduced, "branch2.0"), of.three, "branch2.1"),
         three(one(x, of.fiveReduced, "branch3.0"), of.five, "branch3.1"),
         one(maxPool(x, 3, 1, 1), of.pooled, "branch4.1")},
        3);
  }

  Tensor auxiliary(const Tensor &from, int64_t classes,
                   const std::string &name) {
    auto scope = net.scope(name);
    Tensor x = adaptiveAvgPool2d(from, {4, 4});
    x = basicConv(x, {.out = width(128)}, "conv");
    x = relu(linear(flattenImages(x), {.out = width(1024), .name = "fc1"}));
    return linear(dropout(x, {.p = 0.7}), {.out = classes, .name = "fc2"});
  }

private:
  Graph &net;
  const Width &width;
};

} // namespace

Logits googlenet(Graph &net, Tensor x, int64_t classes, const Width &width) {
  GoogLeNet layers(net, width);
  auto inception = [&](const char *name, const Columns &columns) {
    x = layers.inception(x, columns, name);
  };
  if (isSmall(x)) {
    x = basicConv(x, {.out = width(64), .kernel = 3, .padding = 1}, "conv1");
  } else {
    x = basicConv(x, {.out = width(64), .kernel = 7, .stride = 2, .padding = 3},
                  "conv1");
    x = maxPool(x, 3, 2, 0, true);
  }
  x = basicConv(x, {.out = width(64)}, "conv2");
  x = basicConv(x, {.out = width(192), .kernel = 3, .padding = 1}, "conv3");
  x = maxPool(x, 3, 2, 0, true);
  inception("3a", {64, 96, 128, 16, 32, 32});
  inception("3b", {128, 128, 192, 32, 96, 64});
  x = maxPool(x, 3, 2, 0, true);
  inception("4a", {192, 96, 208, 16, 48, 64});
  Tensor first = layers.auxiliary(x, classes, "aux1");
  inception("4b", {160, 112, 224, 24, 64, 64});
  inception("4c", {128, 128, 256, 24, 64, 64});
  inception("4d", {112, 144, 288, 32, 64, 64});
  Tensor second = layers.auxiliary(x, classes, "aux2");
  inception("4e", {256, 160, 320, 32, 128, 128});
  x = maxPool(x, 2, 2, 0, true);
  inception("5a", {256, 160, 320, 32, 128, 128});
  inception("5b", {384, 192, 384, 48, 128, 128});
  x = dropout(poolAll(x), {.p = 0.2});
  Logits logits = linear(x, {.out = classes, .name = "fc"});
  logits.auxiliary = {first, second};
  logits.auxiliaryWeight = 0.3;
  return logits;
}

} // namespace models
