//===- LeNet.cpp - LeCun et al. (1998), figure 2 --------------------------===//
//
// With relu and maxima, as it is trained today. For images of 28 pixels, zeros
// around them take the place of the paper's 32.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {

Logits lenet(Graph &net, Tensor x, int64_t classes, const Width &width) {
  int64_t around = x.size(1) < 32 ? 2 : 0;
  x = relu(convolve(
      x, {.out = width(6), .kernel = 5, .padding = around, .bias = true},
      "conv1"));
  x = maxPool(x, 2, 2);
  x = relu(convolve(x, {.out = width(16), .kernel = 5, .bias = true}, "conv2"));
  x = flattenImages(maxPool(x, 2, 2));
  x = relu(linear(x, {.out = width(120), .name = "fc1"}));
  x = relu(linear(x, {.out = width(84), .name = "fc2"}));
  return linear(x, {.out = classes, .name = "fc3"});
}

} // namespace models
