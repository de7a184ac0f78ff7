//===- cuda-gate-attention-test.cpp - attention through NVRTC -------------===//
//
// The kernels of attention, for every architecture: they compile, spill no
// register and have no stack.
//
//===----------------------------------------------------------------------===//
#include "CudaGate.h"

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {

/// Attention and its gradient, of 12 heads in groups.
std::string moduleOf(StringRef type, int depth, StringRef changes,
                     StringRef argument, int number) {
  std::string heads = formatv("tensor<4x500x12x{0}x{1}>", depth, type),
              groups =
                  formatv("tensor<4x500x{2}x{0}x{1}>", depth, type, number);
  return formatv(R"(
func.func @f(%g: {0}, %q: {0}, %k: {1}, %v: {1}, %d: tensor<4x500x12xf32>{2})
    -> ({0}, {0}, {1}, {1}) {{
  %y, %s = mp.scaled_dot_product_attention %q, %k, %v {3} : {0}, {1}, {1}
  %x:3 = mp.scaled_dot_product_attention_backward %g, %q, %k, %v, %s, %d {3}
    : {0}, {0}, {1}, {1}, tensor<4x500x12xf32>, tensor<4x500x12xf32>
  return %y, %x#0, %x#1, %x#2 : {0}, {0}, {1}, {1}
}
)",
                 heads, groups, argument, changes);
}

/// A step of attention that drops weights, as it does in training alone.
std::string droppingRecipe(int depth) {
  return formatv(R"(
mp.variable @w : tensor<1x500x12x{0}xf32> = #mp.init<ones>
func.func @loss(%x: tensor<?x500x12x{0}xbf16> {{mp.name = "x"})
    -> (tensor<f32> {{mp.name = "loss"}) {{
  %w = mp.read @w : tensor<1x500x12x{0}xf32>
  %c = mp.cast %w : tensor<1x500x12x{0}xf32> to tensor<1x500x12x{0}xbf16>
  %h = mp.mul %x, %c : tensor<?x500x12x{0}xbf16>, tensor<1x500x12x{0}xbf16>
  %key = mp.random_key
  %y, %s = mp.scaled_dot_product_attention %h, %h, %h dropout(%key, 0.1) causal
    : tensor<?x500x12x{0}xbf16>, tensor<?x500x12x{0}xbf16>,
      tensor<?x500x12x{0}xbf16>
  %f = mp.cast %y : tensor<?x500x12x{0}xbf16> to tensor<?x500x12x{0}xf32>
  %l = mp.mean %f dims[0, 1, 2, 3] : tensor<?x500x12x{0}xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss {{
  mp.minimize result(0) {{params = ["w"], optimizer = #mp.sgd<lr = 0.5>}
}
)",
                 depth);
}

class CudaGateAttention : public CudaGate {};

} // namespace

TEST_P(CudaGateAttention, Compiles) {
  Sources all;
  auto add = [&](StringRef type, int depth, StringRef changes = "causal",
                 StringRef argument = "", int groups = 4) {
    CompileOptions options;
    options.arch = arch;
    options.goal = Goal::Run;
    options.target = "cuda";
    options.filename = formatv("{0} {1}", type, depth);
    collect(all, moduleOf(type, depth, changes, argument, groups), options);
  };
  auto addDropping = [&](int depth) {
    CompileOptions options;
    options.arch = arch;
    options.target = "cuda";
    options.batch = 4;
    options.filename = formatv("dropout {0}", depth);
    Sources ofStep;
    collect(ofStep, droppingRecipe(depth), options);
    for (auto &[symbol, source] : ofStep)
      if (StringRef(source.kernel.code).contains("WeightDropout"))
        all.try_emplace(symbol, source);
  };
  bool isAtAnEnd = GetParam() == 80 || GetParam() == 120;
  for (int depth : {16, 64, 80, 128})
    add("bf16", depth);
  add("bf16", 64, /*changes=*/"", /*argument=*/"", /*groups=*/12);
  add("f16", 128, "mask(%m : tensor<1x12x500x500xf16>)",
      ", %m: tensor<1x12x500x500xf16>");
  for (int depth : {64, 128}) {
    add("bf16", depth,
        "lengths(%l : tensor<4xi32>) slopes(%n : tensor<12xf32>) window(100)",
        ", %l: tensor<4xi32>, %n: tensor<12xf32>");
    addDropping(depth);
  }
  // These differ only by the architecture's registers, which are as many.
  if (isAtAnEnd) {
    add("f16", 192);
    // More than the sums that a block's registers hold.
    add("bf16", 1000);
    add("f32", 1000);
    for (int depth : {64, 128})
      add("f32", depth, "mask(%m : tensor<4x1x1x500xi1>) window(100)",
          ", %m: tensor<4x1x1x500xi1>");
  }
  // The gradients share a launch.
  ASSERT_EQ(all.size(), isAtAnEnd ? 30u : 20u);
  expectFaultless(all);
}

INSTANTIATE_TEST_SUITE_P(, CudaGateAttention,
                         testing::Values(80, 86, 89, 90, 100, 120),
                         [](const testing::TestParamInfo<int> &info) {
                           return "sm_" + std::to_string(info.param);
                         });
