//===- cuda-gate-loops-test.cpp - kernels of loops by the real compiler ---===//
//
// Kernels that run a whole loop, of every width of their tiles and every way in
// which warps share the rows: each compiles, spills no register and has no
// stack.
//
//===----------------------------------------------------------------------===//
#include "CudaGate.h"
#include "LoopCase.h"

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {

class CudaGateLoops : public CudaGate {};

TEST_P(CudaGateLoops, TilesCompile) {
  constexpr std::pair<int64_t, int64_t> rowsAndColumns[] = {
      {256, 96}, {64, 800}, {20, 1700}, {16, 3400}, {128, 3400}, {32, 6800},
  };
  Sources all;
  for (auto [m, n] : rowsAndColumns)
    for (StringRef type : {"f32", "f16", "bf16"}) {
      if (type == "f32" && n > 4000) // wider than its tiles
        continue;
      CompileOptions options;
      options.arch = arch;
      options.goal = Goal::Run;
      options.target = "cuda";
      options.filename = formatv("{0}x{1} {2}", m, n, type);
      Sources own;
      collect(own, loopText({m, 48, n}, type), options);
      size_t before = all.size();
      for (auto &[symbol, source] : own)
        if (StringRef(source.kernel.code).contains("gridBarrier"))
          all.try_emplace(symbol, source);
      EXPECT_EQ(all.size(), before + 1) << options.filename;
    }
  expectFaultless(all);
}

INSTANTIATE_TEST_SUITE_P(, CudaGateLoops, testing::Values(80, 90),
                         [](const auto &info) {
                           return "sm_" + std::to_string(info.param);
                         });

} // namespace
