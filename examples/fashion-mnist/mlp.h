//===- mlp.h - mlp.mlir in C++ ----------------------------------*- C++ -*-===//
#ifndef EXAMPLES_FASHION_MNIST_MLP_H
#define EXAMPLES_FASHION_MNIST_MLP_H

#include "dsl/Layers.h"

/// A 784-512-256-10 perceptron, and how it is trained in mixed precision.
inline void buildFashionMnist(mantissa::Graph &net) {
  using namespace mantissa;
  Tensor image = net.input("image", U8, {Batch, 28, 28});
  Tensor label = net.input("label", U8, {Batch});
  Tensor x = flatten(cast(image, F32)) / 255;
  x = relu(linear(x, {.out = 512, .name = "fc1"}));
  x = relu(linear(x, {.out = 256, .name = "fc2"}));
  Tensor logits = linear(x, {.out = 10, .name = "fc3"});
  net.output("loss", crossEntropy(logits, label));
  net.output("accuracy", accuracy(logits, label));
  net.train({.optimizer = adamw({.lr = 1e-3}),
             .schedule = linear({.to = 0}),
             .precision = "fp16"});
  net.data("train", {{"image", "train-images*", "idx"},
                     {"label", "train-labels*", "idx"}});
  net.data("test", {{"image", "t10k-images*", "idx"},
                    {"label", "t10k-labels*", "idx"}});
}

#endif // EXAMPLES_FASHION_MNIST_MLP_H
