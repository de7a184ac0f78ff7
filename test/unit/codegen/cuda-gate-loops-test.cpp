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
      {256, 96}, {64, 800}, {20, 1700}, {16, 3400}, {128, 3400}, {32, 4400},
  };
  Sources all;
  for (auto [m, n] : rowsAndColumns)
    for (StringRef type : {"f32", "f16", "bf16"}) {
      CompileOptions options;
      options.arch = arch;
      options.goal = Goal::Run;
      options.target = "cuda";
      options.filename = formatv("{0}x{1} {2}", m, n, type);
      Sources own;
      collect(own, loopText({m, 48, n}, type), options);
      for (auto &[symbol, source] : own)
        if (StringRef(source.kernel.code).contains("gridBarrier"))
          all.try_emplace(symbol, source);
    }
  // Where there is less shared memory, the widest do not fit; f32 has no tile
  // of 64 columns.
  EXPECT_GE(all.size(), arch == "sm_80" || arch == "sm_90" ? 17u : 6u);
  expectFaultless(all);
}

INSTANTIATE_TEST_SUITE_P(, CudaGateLoops,
                         testing::Values(80, 86, 89, 90, 100, 120),
                         [](const auto &info) {
                           return "sm_" + std::to_string(info.param);
                         });

} // namespace
