//===- memory-plan-test.cpp - checks that a plan fits ---------------------===//
#include "runtime/MemoryPlan.h"
#include "gtest/gtest.h"
#include <sys/resource.h>

using namespace mp;

namespace {

Program programOf(uint64_t arenaBytes) {
  Program program;
  program.variables.push_back({"weight",
                               VariableKind::Parameter,
                               {ElementType::F32, {256}},
                               {},
                               {"net.mlir", 3, 5}});
  Entry entry;
  entry.function = "step";
  entry.arenaBytes = arenaBytes;
  entry.buffers.push_back(
      {0, arenaBytes, 0, 0, {"net.mlir", 9, 2}, "linear relu"});
  program.entries.push_back(std::move(entry));
  return program;
}

std::string problem(const Program &program, uint64_t variableBytes,
                    uint64_t usable) {
  return llvm::toString(
      checkFits(program, variableBytes, /*workers=*/1, {usable, "it is so"}));
}

TEST(MemoryPlan, FitsToTheByte) {
  EXPECT_EQ(problem(programOf(4096), 1024, 5120), "");
  EXPECT_NE(problem(programOf(4096), 1024, 5119), "");
}

TEST(MemoryPlan, VariablesOfOtherProgramsCount) {
  EXPECT_EQ(problem(programOf(4096), 2048, 6144), "");
  EXPECT_NE(problem(programOf(4096), 2048, 6143), "");
}

TEST(MemoryPlan, SaysWhatIsLarge) {
  EXPECT_EQ(
      problem(programOf(3 << 20), 1024, 4096),
      "'step' does not fit into memory: it takes 3.0 MiB, and 4.0 KiB "
      "can be used, as it is so\n"
      "  weights           1.0 KiB  1 tensors: parameters that are used as "
      "they are\n"
      "  activations       3.0 MiB  1 tensors: the arena: all values "
      "between kernels\n"
      "  total             3.0 MiB\n"
      "the largest are\n"
      "  3.0 MiB  linear relu (net.mlir:9:2)\n"
      "  1.0 KiB  variable weight (net.mlir:3:5)");
}

TEST(MemoryPlan, ThisMachineHasSome) {
  EXPECT_GE(usableMemory().bytes, uint64_t(64) << 20);
}

/// Lowers a limit of this process, and returns what is usable then.
UsableMemory usableWith(int resource, uint64_t limit, uint64_t held) {
  rlimit before;
  getrlimit(resource, &before);
  rlimit lower = {limit, before.rlim_max};
  setrlimit(resource, &lower);
  UsableMemory usable = usableMemory(held);
  setrlimit(resource, &before);
  return usable;
}

TEST(MemoryPlan, LimitsOfTheProcessCountWhatIsMapped) {
  constexpr uint64_t limit = uint64_t(2) << 30;
  for (int resource : {RLIMIT_AS, RLIMIT_DATA}) {
    UsableMemory usable = usableWith(resource, limit, 0);
    EXPECT_LT(usable.bytes, limit);
    EXPECT_NE(usable.reason.find("has 2.0 GiB, of which"), std::string::npos)
        << usable.reason;
    // What the caller holds is not in use by others.
    EXPECT_EQ(usableWith(resource, limit, limit).bytes, limit);
  }
}

} // namespace
