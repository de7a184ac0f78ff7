//===- AlexNet.cpp - Krizhevsky (2014), one column ------------------------===//
//
// torchvision's alexnet. Small images get a window of 5x5 at a stride of one
// first.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {

Logits alexnet(Graph &net, Tensor x, int64_t classes, const Width &width) {
  auto features = [&](Filter filter, int64_t number) {
    filter.out = width(filter.out);
    filter.bias = true;
    x = relu(convolve(x, filter, dotted("features", number)));
  };
  if (isSmall(x))
    features({.out = 64, .kernel = 5, .padding = 2}, 0);
  else
    features({.out = 64, .kernel = 11, .stride = 4, .padding = 2}, 0);
  x = maxPool(x, 3, 2);
  features({.out = 192, .kernel = 5, .padding = 2}, 3);
  x = maxPool(x, 3, 2);
  features({.out = 384, .kernel = 3, .padding = 1}, 6);
  features({.out = 256, .kernel = 3, .padding = 1}, 8);
  features({.out = 256, .kernel = 3, .padding = 1}, 10);
  x = flattenImages(adaptiveAvgPool2d(maxPool(x, 3, 2), {6, 6}));
  x = relu(linear(dropout(x), {.out = width(4096), .name = "classifier.1"}));
  x = relu(linear(dropout(x), {.out = width(4096), .name = "classifier.4"}));
  return linear(x, {.out = classes, .name = "classifier.6"});
}

} // namespace models
