//===- Runner.h - a function to be measured ---------------------*- C++ -*-===//
#ifndef MP_BENCH_MICRO_RUNNER_H
#define MP_BENCH_MICRO_RUNNER_H

#include "program/Program.h"
#include "runtime/Memory.h"
#include "runtime/Session.h"
#include "runtime/ThreadPool.h"

namespace mp::micro {

/// The threads of a kernel.
extern unsigned threads;

Memory memory(uint64_t bytes);
double secondsOf(llvm::function_ref<void()> work);

/// A function ready to run, with inputs of its own.
struct Runner {
  explicit Runner(const std::string &text, bool onednn);

  void makeInputs(ThreadPool &pool);
  void run() { (void)cantFail(executable->run(views)); }

  std::unique_ptr<Session> session;
  Executable *executable = nullptr;
  std::vector<Memory> inputs;
  std::vector<TensorView> views;
  uint64_t bytes = 0, flops = 0; ///< of a run, as planned
};

/// A convolution of square images and windows, with half a window of padding.
struct Convolution {
  const char *name;
  int64_t images, side, in, out, window, stride;
};
enum class ConvolutionKind { Forward, Input, Weight };

/// Those of resnet20 for a batch of 128, and of ResNet-50 for one of 8.
llvm::ArrayRef<Convolution> convolutions();
llvm::StringRef nameOf(ConvolutionKind kind);
std::string textOf(const Convolution &convolution, ConvolutionKind kind,
                   llvm::StringRef type);

/// Self-attention of `heads` heads.
struct Attention {
  const char *name; ///< "depth x tokens"
  int64_t batch, tokens, heads, depth;
  bool isCausal;
};
llvm::ArrayRef<Attention> attentions();
std::string textOf(const Attention &attention, bool isBackward,
                   llvm::StringRef type);

} // namespace mp::micro

#endif // MP_BENCH_MICRO_RUNNER_H
