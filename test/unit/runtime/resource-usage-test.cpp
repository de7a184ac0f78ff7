//===- resource-usage-test.cpp - reading the log of the CUDA compiler -----===//
//----------===//
#include "runtime/cuda/ResourceUsage.h"
#include "gtest/gtest.h"

using namespace mp::cuda;

// As NVRTC 13.0 writes it, shortened.
static const char compilerLog[] =
    R"(kernel.cu(3): warning #177-D: variable "x" was declared but never referenced
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k_1' for 'sm_80'
ptxas info    : Function properties for k_1
ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 30 registers, used 1 barriers, 16 bytes cumulative stack size, 2048 bytes smem, 376 bytes cmem[0]
ptxas info    : Compile time = 3.1 ms
ptxas info    : Function properties for __internal_accurate_pow
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
)";

TEST(ResourceUsage, ReadsEveryFunction) {
  auto all = parseResourceUsage(compilerLog);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].function, "k_1");
  EXPECT_EQ(all[0].registers, 30u);
  EXPECT_EQ(all[0].stackBytes, 16u);
  EXPECT_EQ(all[0].spillBytes, 20u);
  EXPECT_EQ(all[0].sharedBytes, 2048u);
  EXPECT_EQ(all[1].function, "__internal_accurate_pow");
  EXPECT_EQ(all[1].registers, 0u);
  EXPECT_EQ(all[1].spillBytes, 0u);
}

TEST(ResourceUsage, FindsNothingInOtherText) {
  EXPECT_TRUE(parseResourceUsage("").empty());
  EXPECT_TRUE(parseResourceUsage(
                  "kernel.cu(1): error: expected a \";\"\n12 registers\n")
                  .empty());
}
