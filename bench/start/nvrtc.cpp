//===- nvrtc.cpp - a step's CUDA kernels, generated and compiled ----------===//
//
//   bench-nvrtc-start FILE BATCH PRECISION ARCH [TRACE]
//
// What a cold start on a GPU does before the first step, without a GPU: the
// passes and the code generator, with NVRTC on other threads at once, as in
// mp-run. Prints one object of JSON, and writes what NVRTC compiled when to
// TRACE. The cache is that of MP_CACHE_DIR.
//
//===----------------------------------------------------------------------===//
#include "codegen/Compile.h"
#include "runtime/Trace.h"
#include "runtime/cuda/CompilePool.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <map>

using namespace llvm;
using namespace mp;

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

void warn(StringRef text) { errs() << text << "\n"; }

/// The time that each part of the compiler took, on all threads together.
class Parts {
public:
  void add(const CompileSpan &span) {
    std::lock_guard lock(mutex);
    sums[span.what] += seconds(span.end - span.begin);
  }
  json::Object json() const {
    json::Object object;
    for (auto &[name, sum] : sums)
      object[name] = sum;
    return object;
  }

private:
  std::mutex mutex;
  std::map<std::string, double> sums;
};

size_t launchesOf(const Program &program) {
  size_t count = 0;
  for (const Entry &entry : program.entries)
    count += count_if(entry.steps, [](const mp::Step &step) {
      return std::holds_alternative<Launch>(step);
    });
  return count;
}

Error start(StringRef text, CompileOptions options,
            std::shared_ptr<Trace> trace) {
  Clock::time_point began = Clock::now();
  auto nvrtc = cuda::openNvrtc();
  if (!nvrtc)
    return nvrtc.takeError();
  cuda::CompilePool pool(*nvrtc, options.arch, CodeCache::open(warn), trace);
  Parts parts;
  options.onSpan = [&](const CompileSpan &span) { parts.add(span); };
  std::unique_ptr<KernelSink> sink = pool.sink();
  auto program = compile(text, options, sink.get());
  if (!program)
    return program.takeError();
  double generated = seconds(Clock::now() - began);
  for (const Kernel &kernel : program->kernels)
    if (auto cubin = pool.wait(kernel); !cubin)
      return cubin.takeError();
  CompileCounts counts = pool.counts();
  outs() << json::Value(
                json::Object{{"nvrtc", nvrtc->version()},
                             {"seconds", seconds(Clock::now() - began)},
                             {"generated_seconds", generated},
                             {"nvrtc_seconds", counts.seconds},
                             {"parts", parts.json()},
                             {"launches", int64_t(launchesOf(*program))},
                             {"kernels", int64_t(program->kernels.size())},
                             {"kernels_new", int64_t(counts.misses)},
                             {"kernels_cached", int64_t(counts.hits)}})
         << "\n";
  return Error::success();
}

} // namespace

int main(int argc, char **argv) {
  int64_t batch = 0;
  if (argc < 5 || argc > 6 || !to_integer(argv[2], batch) || batch < 1) {
    errs() << "bench-nvrtc-start FILE BATCH PRECISION ARCH [TRACE]\n";
    return 2;
  }
  ExitOnError check("bench-nvrtc-start: ");
  CompileOptions options;
  options.filename = argv[1];
  options.batch = batch;
  options.precision = argv[3];
  options.target = "cuda";
  options.arch = argv[4];
  options.totalSteps = 100;
  auto file = check(errorOrToExpected(MemoryBuffer::getFile(argv[1])));
  auto trace = argc == 6 ? std::make_shared<Trace>() : nullptr;
  check(start(file->getBuffer(), options, trace));
  if (trace)
    check(trace->write(argv[5]));
  return 0;
}
