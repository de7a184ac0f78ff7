//===- cuda-device-test.cpp - names of devices ----------------------------===//
//
// Names of devices, and the devices that they select.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/Device.h"
#include "runtime/cuda/Nvrtc.h"

using namespace mp;
using namespace mp::test;

namespace {

TEST(CudaDevice, NamesThatAreKnown) {
  for (const char *name : {"auto", "cpu", "cuda", "cuda:0", "cuda:12"})
    EXPECT_EQ(message(checkDeviceName(name)), "no error") << name;
  for (const char *name :
       {"", "gpu", "cuda:", "cuda:-1", "cuda:+1", "cuda:1x", "cuda1", "cuda:x",
        "CUDA", "cpu:0", "auto ", "cuda:99999999999"})
    EXPECT_HAS(message(checkDeviceName(name)),
               std::string("unknown device '") + name + "'");
  EXPECT_HAS(message(checkDeviceName("cudda")), "did you mean 'cuda'");
}

TEST(CudaDevice, IsSpelledAsItIsGiven) {
  EXPECT_EQ(Device{}.str(), "cpu");
  EXPECT_EQ((Device{Device::Kind::Cuda, 3}.str()), "cuda:3");
}

TEST(CudaDevice, AutoNeverFailsAndSaysWhy) {
  DeviceChoice choice = llvm::cantFail(chooseDevice("auto"));
  EXPECT_FALSE(choice.reason.empty());
  EXPECT_EQ(llvm::StringRef(choice.reason).count('\n'), 0u);
  EXPECT_EQ(llvm::cantFail(chooseDevice("cpu")).device, Device());
  // A requested device is not replaced by another.
  auto last = chooseDevice("cuda:1000");
  ASSERT_FALSE(bool(last));
  llvm::Error error = last.takeError();
  EXPECT_HAS(llvm::toString(std::move(error)),
             "device cuda:1000 is not available: ");
  EXPECT_EQ(llvm::errorToErrorCode(chooseDevice("cuda:1000").takeError()),
            std::errc::no_such_device);
}

TEST(CudaDevice, ArchitectureIsTheNearestThatRuns) {
  cuda::Nvrtc nvrtc;
  nvrtc.major = 12;
  nvrtc.path = "libnvrtc.so.12";
  nvrtc.architectures = {75, 80, 86, 90};
  auto choose = [&](int major, int minor) {
    auto name = cuda::chooseArchitecture(nvrtc, major, minor);
    return name ? *name : llvm::toString(name.takeError());
  };
  EXPECT_EQ(choose(8, 0), "sm_80");
  EXPECT_EQ(choose(8, 9), "sm_86") << "a cubin runs on later minor versions";
  EXPECT_EQ(choose(9, 0), "sm_90");
  EXPECT_EQ(choose(12, 0),
            "NVRTC 12.0 (libnvrtc.so.12) cannot compile for compute capability "
            "12.0, a later one is needed");
}

TEST(CudaDevice, NvrtcsOwnCacheIsLeftOut) {
  cuda::Nvrtc nvrtc;
  nvrtc.major = 12;
  nvrtc.minor = 8;
  auto has = [&] {
    return llvm::is_contained(cuda::compilerOptions(nvrtc, "sm_90"),
                              "-no-cache");
  };
  EXPECT_FALSE(has());
  nvrtc.minor = 9;
  EXPECT_TRUE(has());
  EXPECT_EQ(cuda::compilerOptions(nvrtc, "sm_90")[0],
            "--gpu-architecture=sm_90a");
}

} // namespace
