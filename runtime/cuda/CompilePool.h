//===- CompilePool.h - NVRTC on many threads ------------------------------===//
//
// One NVRTC program a kernel, since that is what runs in parallel and what a
// cache can keep. Kernels arrive while later ones are still being lowered; of
// those that wait the longest source goes first, as it takes longest.
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

/// What a cubin is kept under.
CodeKey cubinKey(llvm::StringRef source, llvm::ArrayRef<Header> headers,
                 llvm::ArrayRef<std::string> options, llvm::StringRef compiler,
                 llvm::StringRef architecture);

class CompilePool {
public:
  /// `trace` may be null. 0 threads: one a core, 16 at most.
  CompilePool(const Nvrtc &nvrtc, std::string architecture,
              std::shared_ptr<CodeCache> cache,
              std::shared_ptr<Trace> trace = nullptr, unsigned threads = 0);
  /// Drops what has not begun and waits for the rest.
  ~CompilePool();
  CompilePool(const CompilePool &) = delete;

  /// Begins to compile a kernel; one of a known symbol is that kernel.
  /// Thread-safe.
  void add(const Kernel &kernel, const Headers &headers);

  /// A sink that adds the kernels of one compilation. Not to outlive the pool.
  std::unique_ptr<KernelSink> sink();

  /// Waits for a kernel that was added; its cubin lives as long as the pool.
  /// The error names the kernel and the places it came from; the kernel may
  /// then be added again.
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

  mutable std::mutex mutex; ///< of all that follows
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
