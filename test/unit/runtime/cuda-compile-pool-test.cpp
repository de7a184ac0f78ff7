//===- cuda-compile-pool-test.cpp - the pool of compilations --------------===//
//
// The pool with a fake compiler: order, errors, the cache.
//
//===----------------------------------------------------------------------===//
#include "CudaPrograms.h"
#include "runtime/cuda/CompilePool.h"
#include "llvm/Support/MemoryBuffer.h"
#include <atomic>
#include <cstring>
#include <mutex>

using namespace mp;
using namespace mp::cuda;
using namespace mp::test;

namespace {

/// A stand-in for NVRTC. Its cubin is the source between brackets; it refuses a
/// source that holds "wrong" with ten lines of log.
namespace fake {

struct Program {
  std::string source;
};
std::mutex mutex;
std::vector<std::string> compiled;    ///< sources in the order they began
std::vector<std::string> headersSeen; ///< "name=text" of the last
std::atomic<bool> held = false;       ///< no compilation ends while it is set

std::string textOf(NvrtcProgram program) {
  return reinterpret_cast<Program *>(program)->source;
}

NvrtcResult create(NvrtcProgram *program, const char *source, const char *,
                   int headers, const char *const *texts,
                   const char *const *names) {
  std::lock_guard lock(mutex);
  headersSeen.clear();
  for (int i = 0; i < headers; ++i)
    headersSeen.push_back(std::string(names[i]) + "=" + texts[i]);
  *program = reinterpret_cast<NvrtcProgram>(new Program{source});
  return 0;
}
NvrtcResult destroy(NvrtcProgram *program) {
  delete reinterpret_cast<Program *>(*program);
  return 0;
}
NvrtcResult compile(NvrtcProgram program, int, const char *const *) {
  std::string source = textOf(program);
  {
    std::lock_guard lock(mutex);
    compiled.push_back(source);
  }
  while (held)
    std::this_thread::yield();
  return source.find("wrong") == std::string::npos ? 0 : 6;
}
std::string cubinOf(NvrtcProgram program) {
  return "[" + textOf(program) + "]";
}
NvrtcResult cubinSize(NvrtcProgram program, size_t *size) {
  *size = cubinOf(program).size();
  return 0;
}
NvrtcResult cubin(NvrtcProgram program, char *to) {
  std::string text = cubinOf(program);
  std::memcpy(to, text.data(), text.size());
  return 0;
}
std::string log() {
  std::string text;
  for (int i = 1; i <= 10; ++i)
    text += "kernel.cu(" + std::to_string(i) + "): error\n";
  return text;
}
NvrtcResult logSize(NvrtcProgram, size_t *size) {
  *size = log().size() + 1;
  return 0;
}
NvrtcResult getLog(NvrtcProgram, char *to) {
  std::strcpy(to, log().c_str());
  return 0;
}
const char *errorString(NvrtcResult) { return "NVRTC_ERROR_COMPILATION"; }

Nvrtc nvrtc() {
  Nvrtc made;
  made.nvrtcCreateProgram = create;
  made.nvrtcDestroyProgram = destroy;
  made.nvrtcCompileProgram = compile;
  made.nvrtcGetCUBINSize = cubinSize;
  made.nvrtcGetCUBIN = cubin;
  made.nvrtcGetProgramLogSize = logSize;
  made.nvrtcGetProgramLog = getLog;
  made.nvrtcGetErrorString = errorString;
  made.major = 13;
  return made;
}

} // namespace fake

class CudaCompilePool : public testing::Test {
protected:
  CudaCompilePool() { fake::compiled.clear(); }

  std::unique_ptr<CompilePool> pool(unsigned threads, bool cached = false) {
    std::unique_ptr<KernelCache> files;
    if (cached)
      files = llvm::cantFail(KernelCache::open(folder.path("cache")));
    auto cache = std::make_shared<CodeCache>(
        std::move(files),
        [this](llvm::StringRef text) { warnings.push_back(text.str()); });
    return std::make_unique<CompilePool>(nvrtc, "sm_90", std::move(cache),
                                         /*trace=*/nullptr, threads);
  }
  static Kernel kernel(const std::string &source) {
    Kernel kernel;
    kernel.symbol = "k_" + source;
    kernel.code = source;
    kernel.summary = "mp.relu";
    kernel.sources = {{"net.mlir", 3, 5}, {}, {"net.mlir", 4, 7}};
    return kernel;
  }
  static Headers none() {
    return std::make_shared<const std::vector<Header>>();
  }

  TestFolder folder;
  Nvrtc nvrtc = fake::nvrtc();
  std::vector<std::string> warnings;
};

TEST_F(CudaCompilePool, CompilesEachKernelOnce) {
  auto made = pool(4);
  for (int i = 0; i < 20; ++i)
    for (int twice = 0; twice < 2; ++twice)
      made->add(kernel(std::to_string(i)), none());
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(llvm::cantFail(made->wait(kernel(std::to_string(i)))),
              "[" + std::to_string(i) + "]");
  EXPECT_EQ(fake::compiled.size(), 20u);
  EXPECT_EQ(made->counts().misses, 20u);
  EXPECT_EQ(made->counts().hits, 0u);
}

TEST_F(CudaCompilePool, TakesTheLongestSourceFirst) {
  auto made = pool(1);
  fake::held = true;
  made->add(kernel("x"), none());
  while (true) { // until the one thread is busy with it
    std::lock_guard lock(fake::mutex);
    if (!fake::compiled.empty())
      break;
  }
  for (const char *source : {"bb", "dddd", "ccc"})
    made->add(kernel(source), none());
  fake::held = false;
  for (const char *source : {"bb", "ccc", "dddd"})
    llvm::cantFail(made->wait(kernel(source)));
  EXPECT_EQ(fake::compiled,
            (std::vector<std::string>{"x", "dddd", "ccc", "bb"}));
}

TEST_F(CudaCompilePool, ASinkBringsItsHeaders) {
  auto made = pool(1);
  std::unique_ptr<KernelSink> sink = made->sink();
  sink->headers({{"prelude.cuh", "int x;"}});
  sink->kernel(kernel("a"));
  llvm::cantFail(made->wait(kernel("a")));
  EXPECT_EQ(fake::headersSeen, std::vector<std::string>{"prelude.cuh=int x;"});
}

TEST_F(CudaCompilePool, ARefusedKernelIsNamedWithItsPlacesAndTheLog) {
  auto made = pool(2);
  made->add(kernel("wrong"), none());
  auto refused = made->wait(kernel("wrong"));
  ASSERT_FALSE(bool(refused));
  llvm::Error error = refused.takeError();
  EXPECT_TRUE(error.isA<llvm::StringError>());
  std::string text = llvm::toString(std::move(error));
  EXPECT_HAS(text,
             "cannot compile kernel 'k_wrong' (mp.relu) from net.mlir:3:5, "
             "net.mlir:4:7: NVRTC: nvrtcCompileProgram failed: "
             "NVRTC_ERROR_COMPILATION (6)\n  kernel.cu(1): error\n");
  EXPECT_HAS(text, "kernel.cu(8)");
  EXPECT_EQ(text.find("kernel.cu(9)"), std::string::npos);
  // It may be compiled again.
  made->add(kernel("wrong"), none());
  std::string again = message(made->wait(kernel("wrong")));
  EXPECT_HAS(again, "cannot compile");
  EXPECT_EQ(fake::compiled.size(), 2u);
}

TEST_F(CudaCompilePool, TheSourceOfARefusedKernelIsKeptBesideTheCache) {
  auto made = pool(1, /*cached=*/true);
  made->add(kernel("wrong"), none());
  std::string text = message(made->wait(kernel("wrong")));
  llvm::StringRef path = llvm::StringRef(text).split("source is in ").second;
  EXPECT_TRUE(path.starts_with(folder.path("cache"))) << text;
  EXPECT_TRUE(path.ends_with(".cu")) << text;
  auto kept = llvm::cantFail(
      llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)));
  EXPECT_EQ(kept->getBuffer(), "wrong");
  // It is no entry: the kernel is compiled again.
  made->add(kernel("wrong"), none());
  EXPECT_HAS(message(made->wait(kernel("wrong"))), "cannot compile");
  EXPECT_EQ(fake::compiled.size(), 2u);
}

TEST_F(CudaCompilePool, FindsInTheCacheWhatAnEarlierRunMade) {
  for (int run = 0; run < 2; ++run) {
    auto made = pool(2, /*cached=*/true);
    made->add(kernel("a"), none());
    made->add(kernel("b"), none());
    EXPECT_EQ(llvm::cantFail(made->wait(kernel("a"))), "[a]");
    EXPECT_EQ(llvm::cantFail(made->wait(kernel("b"))), "[b]");
    EXPECT_EQ(made->counts().misses, run ? 0u : 2u);
    EXPECT_EQ(made->counts().hits, run ? 2u : 0u);
  }
  EXPECT_EQ(fake::compiled.size(), 2u);
}

TEST_F(CudaCompilePool, ACacheThatCannotBeWrittenIsOneWarning) {
  auto made = pool(1, /*cached=*/true);
  llvm::sys::fs::remove_directories(folder.path("cache"));
  for (const char *source : {"a", "b", "c"}) {
    made->add(kernel(source), none());
    EXPECT_EQ(llvm::cantFail(made->wait(kernel(source))),
              "[" + std::string(source) + "]");
  }
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_HAS(warnings[0], "warning: compiled kernels are not kept: cannot "
                          "write " +
                              folder.path("cache"));
}

TEST_F(CudaCompilePool, TheRealCompilerMakesCubins) {
  auto opened = openNvrtc();
  if (!opened)
    GTEST_SKIP() << llvm::toString(opened.takeError());
  CompilePool made(*opened, "sm_80",
                   std::make_shared<CodeCache>(nullptr, nullptr));
  Program program = cudaProgram();
  auto headers = std::make_shared<const std::vector<Header>>(program.headers);
  for (const Kernel &kernel : program.kernels)
    made.add(kernel, headers);
  for (const Kernel &kernel : program.kernels) {
    auto cubin = made.wait(kernel);
    ASSERT_EQ(message(cubin ? llvm::Error::success() : cubin.takeError()),
              "no error");
    EXPECT_TRUE(cubin->starts_with("\x7f"
                                   "ELF"));
  }
  EXPECT_GT(made.counts().seconds, 0);
  Kernel bad = cudaKernel("bad", 1, "nonsense;");
  made.add(bad, headers);
  std::string refused = message(made.wait(bad));
  EXPECT_HAS(refused, "nonsense");
}

TEST_F(CudaCompilePool, WhatNobodyWaitsForIsDropped) {
  fake::held = true;
  std::thread later;
  {
    auto made = pool(1);
    for (int i = 0; i < 100; ++i)
      made->add(kernel(std::to_string(i)), none());
    later = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      fake::held = false;
    });
  }
  later.join();
  EXPECT_LT(fake::compiled.size(), 100u);
}

} // namespace
