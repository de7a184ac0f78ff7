//===- same-kernels-test.cpp - kernels that become the same code ----------===//
#include "codegen/Compile.h"
#include "codegen/SameKernels.h"
#include "dialect/Mp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <atomic>

using namespace mlir;
using namespace mp;

namespace {
std::vector<size_t> firstOf(StringRef body) {
  MLIRContext context;
  context.loadDialect<MpDialect, func::FuncDialect>();
  std::string text =
      ("func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<8xf32>, "
       "%ok: tensor<i1>) {\n" +
       body + "return\n}\n")
          .str();
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  SmallVector<KernelOp> kernels;
  module->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  return firstOfSame(kernels);
}

std::string kernel(StringRef operand, StringRef size, StringRef op,
                   StringRef predicate = "") {
  std::string type = ("tensor<" + size + "xf32>").str();
  return ("%" + Twine(operand) + "_" + op + predicate.take_back(2) +
          " = mp.kernel(%x = %" + operand + " : " + type + ") " + predicate +
          " -> " + type + " {\n  %r = mp." + op + " %x : " + type +
          "\n  mp.yield %r : " + type + "\n}\n")
      .str();
}
} // namespace

TEST(SameKernels, OtherTensorsAndPlacesAreTheSame) {
  EXPECT_EQ(firstOf(kernel("a", "4", "relu") + kernel("b", "4", "relu")),
            (std::vector<size_t>{0, 0}));
}

TEST(SameKernels, OtherOpsAndShapesAreNot) {
  EXPECT_EQ(firstOf(kernel("a", "4", "relu") + kernel("b", "4", "exp") +
                    kernel("c", "8", "relu") + kernel("a", "4", "exp")),
            (std::vector<size_t>{0, 1, 2, 1}));
}

TEST(SameKernels, PredicatedOnesAreApart) {
  EXPECT_EQ(
      firstOf(kernel("a", "4", "relu") + kernel("b", "4", "relu", "if %ok")),
      (std::vector<size_t>{0, 1}));
}

// Two equal layers launch one kernel, which is emitted once.
TEST(SameKernels, EqualLayersAreEmittedOnce) {
  std::atomic<int> emitted = 0;
  CompileOptions options;
  options.goal = Goal::Run;
  options.onSpan = [&](const CompileSpan &span) {
    emitted += StringRef(span.what) == "kernel";
  };
  Program program = cantFail(compile(R"(
func.func @f(%x: tensor<8x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>)
    -> tensor<8x8xf32> {
  %0 = mp.linear %x, %v : tensor<8x8xf32>, tensor<8x8xf32>
  %1 = mp.linear %0, %w : tensor<8x8xf32>, tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
)",
                                     options));
  EXPECT_EQ(program.kernels.size(), 1u);
  EXPECT_EQ(program.entries.front().steps.size(), 2u);
  EXPECT_EQ(emitted, 1);
}
