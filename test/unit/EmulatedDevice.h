//===- EmulatedDevice.h - the emulated libraries, called directly ---------===//
#ifndef MP_TEST_EMULATEDDEVICE_H
#define MP_TEST_EMULATEDDEVICE_H

#include "test/emulator/Cuda.h"
#include "gtest/gtest.h"

#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace mp::test {

/// A function of one of the emulated libraries, by its exported name.
template <typename Result = CUresult> struct Function {
  void *address;

  Function(const char *library, const char *name) {
    std::string path = std::string(MP_EMULATOR_DIR "/") + library;
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    address = handle ? dlsym(handle, name) : nullptr;
    EXPECT_NE(address, nullptr) << path << ": " << name;
  }
  template <typename... Arguments>
  Result operator()(Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(address)(arguments...);
  }
};

/// Calls a function of the driver; every argument must have its exact type.
template <typename... Arguments>
CUresult cuda(const char *name, Arguments... arguments) {
  return Function<>("libcuda.so.1", name)(arguments...);
}
template <typename... Arguments>
nvrtcResult nvrtc(const char *name, Arguments... arguments) {
  return Function<nvrtcResult>("libnvrtc.so.13", name)(arguments...);
}

inline std::string readText(const std::string &path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

struct Compiled {
  nvrtcResult result;
  std::string object, log;
};

/// Compiles `source` by the emulated NVRTC, with the real prelude as header.
inline Compiled compile(const std::string &source,
                        std::vector<const char *> options = {}) {
  options.insert(options.end(), {"--gpu-architecture=sm_80", "-std=c++17",
                                 "-default-device", "-fmad=false"});
  std::string text =
      readText(MP_SOURCE_DIR "/codegen/cuda/kernels/prelude.cuh");
  const char *header = text.c_str(), *headerName = "prelude.cuh";
  void *program = nullptr;
  nvrtc("nvrtcCreateProgram", &program, source.c_str(), "test.cu", 1, &header,
        &headerName);
  Compiled compiled;
  compiled.result = nvrtc("nvrtcCompileProgram", program,
                          static_cast<int>(options.size()), options.data());
  size_t size = 0;
  nvrtc("nvrtcGetProgramLogSize", program, &size);
  compiled.log.resize(size);
  nvrtc("nvrtcGetProgramLog", program, compiled.log.data());
  compiled.log.resize(size - 1);
  if (compiled.result == NVRTC_SUCCESS) {
    nvrtc("nvrtcGetCUBINSize", program, &size);
    compiled.object.resize(size);
    nvrtc("nvrtcGetCUBIN", program, compiled.object.data());
  }
  nvrtc("nvrtcDestroyProgram", &program);
  return compiled;
}

/// A fresh device in each test; does not check how it is used.
class EmulatedDevice : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(cuda("cuInit", 0u), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cuda("cuDevicePrimaryCtxRetain", &context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuda("cuCtxSetCurrent", context), CUDA_SUCCESS);
  }
  void TearDown() override {
    for (const char *name : {"MP_EMULATOR_SEED", "MP_EMULATOR_LOG",
                             "MP_EMULATOR_FAIL", "MP_EMULATOR_ARCH"})
      unsetenv(name);
    EXPECT_EQ(cuda("cuDevicePrimaryCtxRelease_v2", 0), CUDA_SUCCESS);
  }

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuda("cuMemAlloc_v2", &address, bytes), CUDA_SUCCESS);
    return address;
  }
  template <typename T> CUdeviceptr upload(const std::vector<T> &values) {
    size_t bytes = values.size() * sizeof(T);
    CUdeviceptr address = allocate(bytes);
    EXPECT_EQ(cuda("cuMemcpyHtoD_v2", address,
                   static_cast<const void *>(values.data()), bytes),
              CUDA_SUCCESS);
    return address;
  }
  template <typename T>
  std::vector<T> download(CUdeviceptr address, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cuda("cuMemcpyDtoH_v2", static_cast<void *>(values.data()),
                   address, count * sizeof(T)),
              CUDA_SUCCESS);
    return values;
  }

  /// Returns the kernel `k` of a file of test/emulator.
  CUfunction kernel(const std::string &file,
                    std::vector<const char *> options = {}) {
    return kernelOf(
        compile(readText(std::string(MP_SOURCE_DIR "/test/emulator/") + file),
                std::move(options)));
  }
  CUfunction kernelOf(const Compiled &compiled) {
    EXPECT_EQ(compiled.result, NVRTC_SUCCESS) << compiled.log;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cuda("cuModuleLoadData", &module,
                   static_cast<const void *>(compiled.object.data())),
              CUDA_SUCCESS);
    EXPECT_EQ(cuda("cuModuleGetFunction", &function, module, "k"),
              CUDA_SUCCESS);
    return function;
  }

  template <typename... Arguments>
  CUresult launch(CUfunction function, unsigned grid, unsigned block,
                  unsigned shared, CUstream stream, Arguments... arguments) {
    void *parameters[] = {&arguments...};
    return cuda("cuLaunchKernel", function, grid, 1u, 1u, block, 1u, 1u, shared,
                stream, static_cast<void **>(parameters),
                static_cast<void **>(nullptr));
  }
  CUresult synchronize() { return cuda("cuCtxSynchronize"); }

  /// Sets MP_EMULATOR_LOG to an empty file.
  std::string startLog() {
    std::string path = testing::TempDir() + "emulator.log";
    std::ofstream(path).flush();
    setenv("MP_EMULATOR_LOG", path.c_str(), 1);
    return path;
  }
};

} // namespace mp::test

#endif // MP_TEST_EMULATEDDEVICE_H
