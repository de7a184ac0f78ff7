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

/// Attention and its gradient, of heads in groups of three.
std::string moduleOf(StringRef type, int depth, StringRef changes,
                     StringRef argument) {
  std::string heads = formatv("tensor<4x500x12x{0}x{1}>", depth, type),
              groups = formatv("tensor<4x500x4x{0}x{1}>", depth, type);
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

class CudaGateAttention : public CudaGate {};

} // namespace

TEST_P(CudaGateAttention, Compiles) {
  Sources all;
  auto add = [&](StringRef type, int depth, StringRef changes = "causal",
                 StringRef argument = "") {
    CompileOptions options;
    options.arch = arch;
    options.goal = Goal::Run;
    options.target = "cuda";
    options.filename = formatv("{0} {1}", type, depth);
    collect(all, moduleOf(type, depth, changes, argument), options);
  };
  bool isAtAnEnd = GetParam() == 80 || GetParam() == 120;
  for (int depth : {16, 64, 80, 128})
    add("bf16", depth);
  add("f16", 128, "mask(%m : tensor<1x12x500x500xf16>)",
      ", %m: tensor<1x12x500x500xf16>");
  // These differ only by the architecture's registers, which are as many.
  if (isAtAnEnd) {
    add("f16", 192);
    for (int depth : {64, 128})
      add("f32", depth, "mask(%m : tensor<4x1x1x500xi1>) window(100)",
          ", %m: tensor<4x1x1x500xi1>");
  }
  // The gradients share a launch.
  ASSERT_EQ(all.size(), isAtAnEnd ? 16u : 10u);
  expectFaultless(all);
}

INSTANTIATE_TEST_SUITE_P(, CudaGateAttention,
                         testing::Values(80, 86, 89, 90, 100, 120),
                         [](const testing::TestParamInfo<int> &info) {
                           return "sm_" + std::to_string(info.param);
                         });
