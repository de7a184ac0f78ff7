//===- cuda-gate-convolution-test.cpp - convolutions through NVRTC --------===//
//
// The kernels of convolutions, for every architecture: they compile, spill no
// register and have no stack.
//
//===----------------------------------------------------------------------===//
#include "ConvolutionCase.h"
#include "CudaGate.h"

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {

constexpr Convolution everyOp[] = {Convolution::Forward,
                                   Convolution::BackwardInput,
                                   Convolution::BackwardWeight};

void collect(Sources &all, const ConvolutionCase &shape, Convolution op,
             const std::string &arch,
             std::optional<cuda::GemmConfig> config = {}) {
  CompileOptions options;
  options.arch = arch;
  options.goal = Goal::Run;
  options.target = "cuda";
  if (config)
    options.plan = shape.planBy(*config, op, arch);
  options.filename = testing::PrintToString(shape);
  mp::test::collect(all, shape.module(op), options);
}

/// Collects layers of ResNet-50, of GoogLeNet and of a depthwise network in
/// `types`, by the configs that an architecture gets.
void collectLayers(Sources &all, const std::string &arch,
                   ArrayRef<const char *> types) {
  for (const char *type : types)
    for (const ConvolutionCase &shape :
         {ConvolutionCase(type, {8, 224, 224, 3}, {64, 7, 7})
              .strided(2, 2)
              .padded(3),
          ConvolutionCase(type, {8, 56, 56, 64}, {64, 3, 3}).padded(1),
          ConvolutionCase(type, {8, 56, 56, 128}, {128, 3, 3})
              .strided(2, 2)
              .padded(1),
          ConvolutionCase(type, {8, 7, 7, 512}, {512, 3, 3}).padded(1),
          // No tile of the weights' gradient ends with a pixel's channels.
          ConvolutionCase(type, {32, 14, 14, 112}, {224, 3, 3}).padded(1),
          ConvolutionCase(type, {8, 14, 14, 96}, {96, 3, 3})
              .padded(1)
              .grouped(96)})
      for (Convolution op : everyOp)
        collect(all, shape, op, arch);
}

class CudaGateConvolutions : public CudaGate {};
class CudaGateConvolutionConfigs : public CudaGate {};

} // namespace

// The oldest and the newest architecture compile every kernel, those between
// them only the kernels of tensor cores that differ from the oldest's.
TEST_P(CudaGateConvolutions, LayersCompile) {
  Sources all, oldest;
  if (GetParam() == 80 || GetParam() == 120) {
    collectLayers(all, arch, {"f16", "tf32", "f32"});
    ASSERT_GE(all.size(), 40u);
  } else {
    collectLayers(all, arch, {"f16"});
    collectLayers(oldest, "sm_80", {"f16"});
  }
  std::erase_if(
      all, [&](const auto &entry) { return oldest.contains(entry.first); });
  expectFaultless(all);
}

// Every config, with rows that no tile divides and with strides. Copies of
// single elements, which need most registers, run on the oldest; on the other,
// channels allow 2, 4 or 8 at once in turn.
TEST_P(CudaGateConvolutionConfigs, Compile) {
  Sources all;
  int turn = 0;
  for (const char *type : {"f16", "tf32", "f32"})
    for (Convolution op : everyOp) {
      int elements = GetParam() == 80 ? 1 : 2 << turn++ % 3;
      ConvolutionCase shape = ConvolutionCase(type, {3, 29, 31, 256 + elements},
                                              {512 + elements, 3, 3})
                                  .strided(2, 1)
                                  .padded(1, 1, 0, 1);
      for (cuda::GemmConfig config : cuda::gemmCandidates(
               shape.product(op), cantFail(cuda::Arch::get(arch)), 1000)) {
        if (config.splits > (config.wgmma ? 2 : 1))
          continue;
        collect(all, shape, op, arch, config);
      }
    }
  ASSERT_GE(all.size(), 55u);
  expectFaultless(all);
}

static std::string nameOf(const testing::TestParamInfo<int> &info) {
  return "sm_" + std::to_string(info.param);
}
INSTANTIATE_TEST_SUITE_P(, CudaGateConvolutions,
                         testing::Values(80, 86, 89, 90, 100, 120), nameOf);
INSTANTIATE_TEST_SUITE_P(, CudaGateConvolutionConfigs, testing::Values(80, 90),
                         nameOf);
