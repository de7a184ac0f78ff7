//===- CompilePool.h - NVRTC on many threads ------------------------------===//
//
// Each kernel is an NVRTC program of its own, as programs compile in parallel
// and the cache can keep each one. Kernels arrive while later ones are still
// being lowered; the longest waiting source goes first, as it takes longest.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CUDA_COMPILEPOOL_H
#define MP_RUNTIME_CUDA_COMPILEPOOL_H

#include "program/Compiler.h"
#include "runtime/cache/CodeCache.h"
#include "runtime/cuda/Nvrtc.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/thread.h"
#include <condition_variable>
#include <memory>
#include <queue>

namespace mp::cuda {

using Headers = std::shared_ptr<const std::vector<Header>>;

/// The key under which the cache keeps a cubin.
CodeKey cubinKey(llvm::StringRef source, llvm::ArrayRef<Header> headers,
                 llvm::ArrayRef<std::string> options, llvm::StringRef compiler,
                 llvm::StringRef architecture);

class CompilePool {
public:
  /// `trace` may be null. 0 threads means one per core, at most 16.
  CompilePool(const Nvrtc &nvrtc, std::string architecture,
              std::shared_ptr<CodeCache> cache,
              std::shared_ptr<Trace> trace = nullptr, unsigned threads = 0);
  /// Drops the jobs that have not begun and waits for the rest.
  ~CompilePool();
  CompilePool(const CompilePool &) = delete;

  /// Begins to compile a kernel, unless one of that symbol was added before.
  /// Thread-safe.
  void add(const Kernel &kernel, const Headers &headers);

  /// A sink that adds the kernels of one compilation. The pool must outlive it.
  std::unique_ptr<KernelSink> sink();

  /// Waits for a kernel that was added; its cubin lives as long as the pool.
  /// The error names the kernel and its source locations; the kernel may then
  /// be added again.
  llvm::Expected<llvm::StringRef> wait(const Kernel &kernel);

  CompileCounts counts() const { return cache->counts(); }

  const std::string architecture; ///< that it compiles for: "sm_90"

private:
  struct Job {
    std::string symbol, source, label;
    Headers headers;
    std::string cubin, problem;
    bool done = false;
  };
  struct ShorterSource {
    bool operator()(const std::shared_ptr<Job> &a,
                    const std::shared_ptr<Job> &b) const {
      return a->source.size() < b->source.size();
    }
  };

  void work();
  /// Fills `cubin` or `problem`; reads and writes the cache.
  void compile(Job &job);

  const Nvrtc &nvrtc;
  const std::vector<std::string> options;
  const std::shared_ptr<CodeCache> cache;
  const std::shared_ptr<Trace> trace; ///< may be null

  mutable std::mutex mutex; ///< guards what follows
  std::condition_variable changed;
  std::priority_queue<std::shared_ptr<Job>, std::vector<std::shared_ptr<Job>>,
                      ShorterSource>
      waiting;
  llvm::StringMap<std::shared_ptr<Job>> jobs;
  bool stopping = false;
  std::vector<llvm::thread> threads;
};

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_COMPILEPOOL_H
