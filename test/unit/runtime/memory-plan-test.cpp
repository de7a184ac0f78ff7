//===- memory-plan-test.cpp - checks that a plan fits ---------------------===//
#include "runtime/MemoryPlan.h"
#include "gtest/gtest.h"

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

TEST(MemoryPlan, FitsToTheByte) {
  EXPECT_FALSE(static_cast<bool>(checkFits(programOf(4096), 1024, 5120)));
  llvm::Error error = checkFits(programOf(4096), 1024, 5119);
  EXPECT_TRUE(static_cast<bool>(error));
  llvm::consumeError(std::move(error));
}

TEST(MemoryPlan, SaysWhatIsLarge) {
  EXPECT_EQ(llvm::toString(checkFits(programOf(3 << 20), 1024, 4096)),
            "'step' does not fit into memory: 1.0 KiB of variables, 0 B of "
            "constants and 3.0 MiB of intermediate values, but 4.0 KiB can be "
            "used; the largest are\n"
            "  3.0 MiB  linear relu (net.mlir:9:2)\n"
            "  1.0 KiB  variable weight (net.mlir:3:5)");
}

TEST(MemoryPlan, ThisMachineHasSome) {
  EXPECT_GE(usableMemory(), uint64_t(64) << 20);
}

} // namespace
