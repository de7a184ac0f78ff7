//===- print_graph.cpp - a network in C++ as a module of the tools --------===//
//
// Writes the perceptron of examples/fashion-mnist, with the lines of mlp.h as
// locations: print_graph >mlp.mlir
//
//===----------------------------------------------------------------------===//
#include "examples/fashion-mnist/mlp.h"

int main() {
  mantissa::Graph net("fashion_mnist_mlp");
  buildFashionMnist(net);
  return net.print() ? 0 : 1;
}
