//===- EmulatedProgram.h - a Program's kernels on the emulated device -----===//
//
// Compiles each kernel through the emulated NVRTC and runs an entry point's
// launches in order, without the runtime, for tests of codegen.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_EMULATEDPROGRAM_H
#define MP_TEST_EMULATEDPROGRAM_H

#include "EmulatedDevice.h"
#include "GoldenFunction.h"
#include <random>

namespace mp::test {

/// Returns multiples of 1/8 in [-1, 1]: exact in every type of float, and so
/// are sums of not too many of their products in f32.
inline Numbers randomNumbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  Numbers numbers(count);
  for (double &number : numbers)
    number = (static_cast<int>(random() % 17) - 8) / 8.0;
  return numbers;
}

/// Rounds each number to `type`, once.
inline Numbers rounded(const Numbers &numbers, ElementType type) {
  TensorType flat{type, {static_cast<int64_t>(numbers.size())}};
  return unpack(pack(numbers, type).data(), flat);
}

class EmulatedProgram : public EmulatedDevice {
protected:
  /// Returns the elements of each result of the first entry point, for its
  /// inputs' elements.
  std::vector<Numbers> run(const Program &program,
                           const std::vector<Numbers> &inputs) {
    std::vector<std::string> bytes;
    const Entry &entry = program.entries.front();
    for (const auto &[numbers, input] : llvm::zip_equal(inputs, entry.inputs))
      bytes.push_back(pack(numbers, input.type.element));
    std::vector<Numbers> results;
    auto raw = run(program, bytes);
    for (const auto &[result, described] : llvm::zip(raw, entry.results))
      results.push_back(unpack(result.data(), described.type));
    return results;
  }

  /// The same in bytes. Every input has a buffer of its own, so that every
  /// access beyond one is noticed.
  std::vector<std::string> run(const Program &program,
                               const std::vector<std::string> &inputs) {
    std::vector<CUfunction> kernels;
    for (const Kernel &kernel : program.kernels)
      kernels.push_back(load(program, kernel));
    const Entry &entry = program.entries.front();
    std::vector<CUdeviceptr> staged;
    for (const std::string &input : inputs)
      staged.push_back(upload(std::vector<char>(input.begin(), input.end())));
    CUdeviceptr arena = allocate(std::max<uint64_t>(entry.arenaBytes, 1));
    auto addressOf = [&](const BufferRef &ref) {
      bool isInput = ref.space == BufferRef::Space::Staging;
      return (isInput ? staged[ref.index] : arena) + ref.offset;
    };
    for (const Step &step : entry.steps) {
      const auto *launch = std::get_if<Launch>(&step);
      if (!launch) {
        ADD_FAILURE() << "only launches are run here";
        return {};
      }
      std::vector<CUdeviceptr> addresses;
      for (const BufferRef &ref : launch->args)
        addresses.push_back(addressOf(ref));
      start(kernels[launch->kernel], *launch, addresses);
    }
    EXPECT_EQ(synchronize(), CUDA_SUCCESS);
    std::vector<std::string> results;
    for (const Result &result : entry.results) {
      auto bytes = download<char>(addressOf(result.ref), result.type.bytes());
      results.emplace_back(bytes.begin(), bytes.end());
    }
    return results;
  }

private:
  void start(CUfunction kernel, const Launch &launch,
             std::vector<CUdeviceptr> &addresses) {
    constexpr int mostShared = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_..
    EXPECT_EQ(cuda("cuFuncSetAttribute", kernel, mostShared,
                   static_cast<int>(launch.shared)),
              CUDA_SUCCESS);
    CUdeviceptr table = launch.table ? upload(addresses) : 0;
    std::vector<void *> parameters;
    if (launch.table)
      parameters.push_back(&table);
    else
      for (CUdeviceptr &address : addresses)
        parameters.push_back(&address);
    EXPECT_EQ(cuda("cuLaunchKernel", kernel, static_cast<unsigned>(launch.grid),
                   1u, 1u, static_cast<unsigned>(launch.block), 1u, 1u,
                   static_cast<unsigned>(launch.shared),
                   static_cast<CUstream>(nullptr), parameters.data(),
                   static_cast<void **>(nullptr)),
              CUDA_SUCCESS);
  }

  CUfunction load(const Program &program, const Kernel &kernel) {
    std::vector<const char *> texts, names;
    for (const Header &header : program.headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    std::string arch = "--gpu-architecture=" + program.arch;
    const char *options[] = {arch.c_str(), "-std=c++17", "-default-device",
                             "-fmad=false"};
    void *compilation = nullptr;
    nvrtc("nvrtcCreateProgram", &compilation, kernel.code.c_str(), "k.cu",
          static_cast<int>(texts.size()), texts.data(), names.data());
    nvrtcResult result = nvrtc("nvrtcCompileProgram", compilation, 4,
                               static_cast<const char *const *>(options));
    size_t size = 0;
    nvrtc("nvrtcGetProgramLogSize", compilation, &size);
    std::string log(size, '\0'), object;
    nvrtc("nvrtcGetProgramLog", compilation, log.data());
    EXPECT_EQ(result, NVRTC_SUCCESS) << log << kernel.code;
    if (result == NVRTC_SUCCESS) {
      nvrtc("nvrtcGetCUBINSize", compilation, &size);
      object.resize(size);
      nvrtc("nvrtcGetCUBIN", compilation, object.data());
    }
    nvrtc("nvrtcDestroyProgram", &compilation);
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cuda("cuModuleLoadData", &module,
                   static_cast<const void *>(object.data())),
              CUDA_SUCCESS);
    EXPECT_EQ(
        cuda("cuModuleGetFunction", &function, module, kernel.symbol.c_str()),
        CUDA_SUCCESS);
    return function;
  }
};

} // namespace mp::test

#endif // MP_TEST_EMULATEDPROGRAM_H
