//===- print_resnet.cpp - resnet20 as a module of the tools ---------------===//
//
// Writes the residual network of examples/resnet: print_resnet >resnet20.mlir
//
//===----------------------------------------------------------------------===//
#include "examples/resnet/resnet20.h"

int main() {
  mantissa::Graph net("resnet20");
  resnet::build(net);
  return net.print() ? 0 : 1;
}
