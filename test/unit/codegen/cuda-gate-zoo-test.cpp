//===- cuda-gate-zoo-test.cpp - kernels of mp-zoo by the real compiler ----===//
//
// The kernels of the steps of networks of mp-zoo, in their full size: each
// compiles, spills no register and has no stack. All networks take NVRTC half
// an hour on two cores, so that they run only when they are asked for:
//
//   cuda-gate-zoo-test --gtest_also_run_disabled_tests
//
//===----------------------------------------------------------------------===//
#include "CudaGate.h"
#include "tools/common/NamedModels.h"

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {

/// Collects a training step of a network at batch 32.
void collectNetwork(Sources &all, StringRef name, StringRef precision,
                    StringRef arch) {
  CompileOptions options;
  options.target = "cuda";
  options.arch = arch.str();
  options.totalSteps = 100;
  options.batch = 32;
  options.precision = precision.str();
  options.filename = ("zoo:" + name).str();
  auto text = tool::moduleOfModel(name);
  ASSERT_TRUE(bool(text)) << toString(text.takeError());
  collect(all, *text, options);
}

class CudaGateZoo : public CudaGate {
protected:
  /// Compiles what the networks do not share with each other, and what differs
  /// from the oldest architecture's.
  void expectFaultlessNetworks(ArrayRef<StringRef> names) {
    constexpr StringLiteral oldest = "sm_80";
    std::set<std::string> known;
    for (StringRef name : names)
      for (StringRef precision : {"fp32", "fp16", "bf16"}) {
        Sources own, others;
        collectNetwork(own, name, precision, arch);
        if (arch != oldest)
          collectNetwork(others, name, precision, oldest);
        for (auto &[symbol, source] : others)
          known.insert(source.kernel.code);
        std::erase_if(own, [&](const auto &entry) {
          return !known.insert(entry.second.kernel.code).second;
        });
        outs() << name << ", " << precision << ", ";
        expectFaultless(own);
      }
  }
};

TEST_P(CudaGateZoo, KernelsOfLeNetCompile) {
  expectFaultlessNetworks({"lenet"});
}

TEST_P(CudaGateZoo, DISABLED_EveryKernelCompiles) {
  std::vector<StringRef> names;
  for (const models::Model &model : models::allModels())
    names.push_back(model.name);
  expectFaultlessNetworks(names);
}

TEST_P(CudaGateZoo, DISABLED_LoopsCompile) {
  expectFaultlessNetworks({"biglstm", "lstm-lm", "speech-ctc"});
}

/// 48 layers at 1,024 tokens with dropout: what the deepest transformer takes.
TEST_P(CudaGateZoo, DISABLED_DeepTransformersCompile) {
  expectFaultlessNetworks({"gpt2-xl"});
}

INSTANTIATE_TEST_SUITE_P(, CudaGateZoo,
                         testing::Values(80, 86, 89, 90, 100, 120),
                         [](const auto &info) {
                           return "sm_" + std::to_string(info.param);
                         });

} // namespace
