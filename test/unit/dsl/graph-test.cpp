#include "../../../examples/dsl/FashionMnist.h"
#include "codegen/Compile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace mantissa;

TEST(Graph, Prints) {
  Graph net("fashion_mnist_mlp");
  buildFashionMnist(net);
  auto text = net.text(false);
  if (!text) { llvm::errs() << llvm::toString(text.takeError()) << "\n"; FAIL(); }
  llvm::errs() << *text;
}
