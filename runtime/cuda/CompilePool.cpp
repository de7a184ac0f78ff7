//===- CompilePool.cpp - NVRTC on many threads ----------------------------===//
#include "runtime/cuda/CompilePool.h"
#include "runtime/ThreadPool.h"
#include "runtime/Trace.h"
#include "support/Error.h"
#include "support/SignalStack.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>

using namespace llvm;

namespace mp::cuda {

CompilePool::CompilePool(const Nvrtc &nvrtc, std::string architecture,
                         std::shared_ptr<CodeCache> cache,
                         std::shared_ptr<Trace> trace, unsigned count)
    : architecture(std::move(architecture)), nvrtc(nvrtc),
      options(compilerOptions(nvrtc, this->architecture)),
      cache(std::move(cache)), trace(std::move(trace)) {
  constexpr unsigned most = 16;
  if (count == 0)
    count = std::min(ThreadPool::cores(), most);
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([this] { work(); });
}

CompilePool::~CompilePool() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  for (llvm::thread &thread : threads)
    thread.join();
}

/// "kernel 'k_1' (mp.linear mp.relu) from net.mlir:3:5, net.mlir:4:5"
static std::string describe(const Kernel &kernel) {
  std::string text = "kernel '" + kernel.symbol + "' (" + kernel.summary + ")";
  constexpr size_t most = 4;
  StringRef separator = " from ";
  for (const Location &source : ArrayRef(kernel.sources).take_front(most))
    if (std::string place = source.str(); !place.empty()) {
      text += (separator + place).str();
      separator = ", ";
    }
  return text;
}

void CompilePool::add(const Kernel &kernel, const Headers &headers) {
  auto job = std::make_shared<Job>();
  job->symbol = kernel.symbol;
  job->source = kernel.code;
  job->headers = headers;
  job->label = describe(kernel);
  {
    std::lock_guard lock(mutex);
    if (!jobs.try_emplace(kernel.symbol, job).second)
      return;
    waiting.push(std::move(job));
  }
  changed.notify_all();
}

namespace {
class PoolSink final : public KernelSink {
public:
  explicit PoolSink(CompilePool &pool) : pool(pool) {}
  void headers(ArrayRef<Header> all) override {
    shared = std::make_shared<const std::vector<Header>>(all.vec());
  }
  void kernel(const Kernel &kernel) override { pool.add(kernel, shared); }

private:
  CompilePool &pool;
  Headers shared = std::make_shared<const std::vector<Header>>();
};
} // namespace

std::unique_ptr<KernelSink> CompilePool::sink() {
  return std::make_unique<PoolSink>(*this);
}

void CompilePool::work() {
  SignalStack stack;
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return stopping || !waiting.empty(); });
    if (stopping)
      return;
    std::shared_ptr<Job> job = waiting.top();
    waiting.pop();
    lock.unlock();
    compile(*job);
    lock.lock();
    job->done = true;
    changed.notify_all();
  }
}

CodeKey cubinKey(StringRef source, ArrayRef<Header> headers,
                 ArrayRef<std::string> options, StringRef compiler,
                 StringRef architecture) {
  SmallVector<StringRef> texts;
  for (const Header &header : headers)
    texts.append({header.name, header.text});
  return {"cubin",
          source.str(),
          {{"NVRTC", compiler.str()},
           {"architecture", architecture.str()},
           {"options", llvm::join(options, " ")},
           {"headers", hashOf(texts)}}};
}

void CompilePool::compile(Job &job) {
  TraceSpan span(trace.get(), Trace::Kind::Compile, job.label);
  CodeKey key = cubinKey(job.source, *job.headers, options, nvrtc.version(),
                         architecture);
  key.label = job.label;
  if (std::optional<std::string> found = cache->find(key)) {
    job.cubin = std::move(*found);
    return;
  }
  auto start = std::chrono::steady_clock::now();
  Expected<Compilation> made =
      compileToCubin(nvrtc, job.source, *job.headers, options);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (!made) {
    job.problem = toString(made.takeError());
    if (std::string path = cache->keepSource(key); !path.empty())
      job.problem += "\n  the kernel's source is in " + path;
    return;
  }
  job.cubin = std::move(made->cubin);
  cache->keep(key, job.cubin, time.count());
}

Expected<StringRef> CompilePool::wait(const Kernel &kernel) {
  std::unique_lock lock(mutex);
  auto found = jobs.find(kernel.symbol);
  if (found == jobs.end())
    return makeError("kernel '{0}' was never compiled", kernel.symbol);
  std::shared_ptr<Job> job = found->second;
  changed.wait(lock, [&] { return job->done; });
  if (job->problem.empty())
    return StringRef(job->cubin);
  jobs.erase(kernel.symbol);
  return deviceError("cannot compile " + describe(kernel) + ": " +
                     job->problem);
}

} // namespace mp::cuda
