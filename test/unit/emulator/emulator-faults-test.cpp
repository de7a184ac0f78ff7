//===- emulator-faults-test.cpp - kernels with a planted fault ------------===//
#include "EmulatedDevice.h"

using namespace mp::test;

namespace {

struct Fault {
  const char *file;
  CUresult error;
  const char *message;
};
void PrintTo(const Fault &fault, std::ostream *stream) {
  *stream << fault.file;
}

class EmulatorFault : public EmulatedDevice,
                      public testing::WithParamInterface<Fault> {
protected:
  /// Two warps on 64 numbers, with 256 bytes of shared memory.
  CUresult run() {
    CUfunction function =
        kernel(std::string("faults/") + GetParam().file + ".cu");
    CUdeviceptr in = upload(std::vector<float>(64, 1)), out = allocate(256);
    EXPECT_EQ(launch(function, 1, 64, 256, nullptr, in, out), CUDA_SUCCESS);
    return synchronize();
  }
};

TEST_P(EmulatorFault, isReported) {
  // No order of threads hides the fault.
  for (const char *seed : {"0", "1", "2", "3"}) {
    setenv("MP_EMULATOR_SEED", seed, 1);
    testing::internal::CaptureStderr();
    CUresult error = run();
    std::string message = testing::internal::GetCapturedStderr();
    EXPECT_EQ(error, GetParam().error) << message;
    EXPECT_NE(message.find("mantissa emulator: k: block 0, thread "),
              std::string::npos)
        << message;
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
    // The context is lost, as on a device.
    EXPECT_EQ(synchronize(), GetParam().error);
    cuda("cuDevicePrimaryCtxReset_v2", 0);
  }
}

const Fault faults[] = {
    {"missing-barrier", CUDA_ERROR_LAUNCH_FAILED, "race: byte"},
    {"missing-warp-barrier", CUDA_ERROR_LAUNCH_FAILED, "race: byte"},
    {"missing-copy-wait", CUDA_ERROR_LAUNCH_FAILED, "waited for its copy"},
    {"missing-copy-barrier", CUDA_ERROR_LAUNCH_FAILED, "shared memory"},
    {"divergent-barrier", CUDA_ERROR_LAUNCH_FAILED, "divergent barrier"},
    {"skipped-barrier", CUDA_ERROR_LAUNCH_FAILED,
     "barrier at test.cu:8: 24 threads have ended without it, thread 40"},
    {"grid-barrier", CUDA_ERROR_LAUNCH_FAILED,
     "barrier of the grid at test.cu:6 in a launch whose blocks need not"},
    {"missing-lanes", CUDA_ERROR_LAUNCH_FAILED,
     "shuffle at test.cu:8: 16 lanes of warp"},
    {"read-out-of-bounds", CUDA_ERROR_ILLEGAL_ADDRESS,
     "thread 63: parameter 0: read of 1 elements at index 64 of 64"},
    {"write-out-of-bounds", CUDA_ERROR_ILLEGAL_ADDRESS,
     "parameter 1: write of 4 elements at index"},
    {"tensor-too-long", CUDA_ERROR_ILLEGAL_ADDRESS,
     "parameter 0: a tensor of 260 bytes is not inside one allocation"},
    {"misaligned-vector", CUDA_ERROR_MISALIGNED_ADDRESS, "is not aligned"},
    {"shared-out-of-bounds", CUDA_ERROR_ILLEGAL_ADDRESS,
     "write of 4 bytes at byte 256 of shared memory, which has 256"},
    {"wild-pointer", CUDA_ERROR_ILLEGAL_ADDRESS, "illegal address"},
};
INSTANTIATE_TEST_SUITE_P(Planted, EmulatorFault, testing::ValuesIn(faults),
                         [](const auto &info) {
                           std::string name = info.param.file;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// Without the race detector a missing barrier still shows: by results that
/// depend on the order of threads.
TEST_F(EmulatorFault, ofABarrierChangesResultsWithTheOrder) {
  setenv("MP_EMULATOR_RACES", "0", 1);
  CUfunction function = kernel("faults/missing-barrier.cu");
  unsetenv("MP_EMULATOR_RACES");
  CUdeviceptr in = upload(std::vector<float>(64, 1)), out = allocate(256);
  ASSERT_EQ(launch(function, 1, 64, 256, nullptr, in, out), CUDA_SUCCESS);
  auto values = download<float>(out, 64);
  EXPECT_TRUE(std::any_of(values.begin(), values.end(),
                          [](float value) { return value != value; }));
}

} // namespace
