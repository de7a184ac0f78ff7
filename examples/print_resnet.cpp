//===- print_resnet.cpp - residual networks as modules of the tools -------===//
//
// Writes a network of examples/resnet: print_resnet [NETWORK] >resnet.mlir
//
//   resnet20         on Fashion-MNIST, the one without an argument
//   resnet20-cifar   on 32x32 images with three channels, as CIFAR-10 has
//   resnet50-cifar   the same images; it begins with a window of 3x3
//   resnet50         on 224x224 images, as ImageNet has
//
//===----------------------------------------------------------------------===//
#include "examples/resnet/resnet20.h"
#include "examples/resnet/resnet50.h"
#include "llvm/Support/raw_ostream.h"

namespace {
struct Choice {
  llvm::StringRef name, module;
  mantissa::Tensor (*network)(mantissa::Graph &, mantissa::Tensor, int64_t);
  resnet::Images images;
};

constexpr Choice kChoices[] = {
    {"resnet20", "resnet20", resnet::resnet20, resnet::kFashionMnist},
    {"resnet20-cifar", "resnet20", resnet::resnet20, resnet::kCifar10},
    {"resnet50-cifar", "resnet50", resnet::resnet50, resnet::kCifar10},
    {"resnet50", "resnet50", resnet::resnet50, resnet::kImageNet},
};
} // namespace

int main(int count, char **arguments) {
  llvm::StringRef name = count > 1 ? arguments[1] : "resnet20";
  for (const Choice &choice : kChoices)
    if (choice.name == name && count <= 2) {
      mantissa::Graph net(choice.module.str());
      resnet::build(net, choice.images, choice.network);
      return net.print() ? 0 : 1;
    }
  llvm::errs() << "print_resnet takes the name of one network:";
  for (const Choice &choice : kChoices)
    llvm::errs() << " " << choice.name;
  llvm::errs() << "\n";
  return 2;
}
