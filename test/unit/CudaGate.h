//===- CudaGate.h - kernels through the real compiler -----------*- C++ -*-===//
//
// A kernel passes if it compiles, spills no register and has no stack. This
// needs no GPU, only NVRTC: the machine's, or the one that test/fetch-nvrtc.py
// brings.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_CUDAGATE_H
#define MP_TEST_UNIT_CUDAGATE_H

#include "RealNvrtc.h"
#include "codegen/Compile.h"
#include "runtime/cuda/ResourceUsage.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/ThreadPool.h"
#include "gtest/gtest.h"
#include <chrono>
#include <map>

namespace mp::test {

struct Source {
  Kernel kernel;
  std::vector<Header> headers;
  std::string model;
};
/// By symbol: equal kernels are compiled once.
using Sources = std::map<std::string, Source>;

inline void collect(Sources &all, llvm::StringRef text,
                    const CompileOptions &options) {
  llvm::Expected<Program> program = mp::compile(text, options);
  if (!program) {
    ADD_FAILURE() << toString(program.takeError());
    return;
  }
  for (const Kernel &kernel : program->kernels)
    all.try_emplace(kernel.symbol,
                    Source{kernel, program->headers, options.filename});
}

/// Returns the fault of a kernel, or "".
inline std::string fault(const Source &source, const std::string &arch,
                         const cuda::Nvrtc &nvrtc) {
  auto compiled =
      cuda::compileToCubin(nvrtc, source.kernel.code, source.headers,
                           cuda::compilerOptions(nvrtc, arch));
  if (!compiled)
    return toString(compiled.takeError());
  std::string faults;
  // The compiler waits after each product of a warpgroup (C7510 to C7520).
  if (llvm::StringRef(compiled->log).contains("C75"))
    faults += compiled->log;
  auto usages = cuda::parseResourceUsage(compiled->log);
  if (usages.empty())
    faults += "the log tells no registers:\n" + compiled->log;
  for (const cuda::ResourceUsage &usage : usages)
    if (usage.spillBytes || usage.stackBytes)
      faults +=
          llvm::formatv("{0}: {1} bytes spilled, {2} bytes of stack\n",
                        usage.function, usage.spillBytes, usage.stackBytes);
  return faults;
}

class CudaGate : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    auto opened = nvrtcForTests();
    ASSERT_TRUE(bool(opened)) << toString(opened.takeError());
    nvrtc = &*opened;
    if (!llvm::is_contained(nvrtc->architectures, GetParam()))
      GTEST_SKIP() << "NVRTC " << nvrtc->version()
                   << " does not compile for it";
  }

  /// Compiles all, and fails for each that has a fault.
  void expectFaultless(const Sources &all) const {
    auto start = std::chrono::steady_clock::now();
    std::vector<const Source *> list;
    for (auto &[symbol, source] : all)
      list.push_back(&source);
    std::vector<std::string> faults(list.size());
    llvm::DefaultThreadPool pool;
    for (size_t i = 0; i < list.size(); ++i)
      pool.async([&, i] { faults[i] = fault(*list[i], arch, *nvrtc); });
    pool.wait();
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    llvm::outs() << llvm::formatv("{0}: {1} kernels in {2:f1} s\n", arch,
                                  list.size(), seconds.count());
    for (auto [source, text] : llvm::zip_equal(list, faults))
      EXPECT_EQ(text, "") << source->model << ": " << source->kernel.summary
                          << "\n"
                          << source->kernel.code;
  }

  const cuda::Nvrtc *nvrtc = nullptr;
  std::string arch = "sm_" + std::to_string(GetParam());
};

} // namespace mp::test

#endif // MP_TEST_UNIT_CUDAGATE_H
