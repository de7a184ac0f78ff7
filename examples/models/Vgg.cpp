//===- Vgg.cpp - Simonyan and Zisserman (2014), table 1, D ----------------===//
//
// torchvision's vgg16.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Models.h"

namespace models {

Logits vgg16(Graph &net, Tensor x, int64_t classes, const Width &width) {
  // Without batch norm, thirteen layers of the usual first weights would leave
  // a thousandth of the image: relu halves the square of what passes.
  Initializer init = kaimingNormal(0);
  int64_t number = 0; // of torch.nn.Sequential, which counts relu and pools
  for (auto [channels, layers] :
       {std::pair(64, 2), {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int64_t layer = 0; layer < layers; ++layer, number += 2)
      x = relu(convolve(x,
                        {.out = width(channels),
                         .kernel = 3,
                         .padding = 1,
                         .bias = true,
                         .init = init},
                        dotted("features", number)));
    x = maxPool(x, 2, 2);
    ++number;
  }
  x = flattenImages(adaptiveAvgPool2d(x, {7, 7}));
  x = dropout(relu(linear(x, {.out = width(4096), .name = "classifier.0"})));
  x = dropout(relu(linear(x, {.out = width(4096), .name = "classifier.3"})));
  return linear(x, {.out = classes, .name = "classifier.6"});
}

} // namespace models
