//===- SignalStack.h - where a thread's signal handlers run ---------------===//
#ifndef MP_SUPPORT_SIGNALSTACK_H
#define MP_SUPPORT_SIGNALSTACK_H

#include <csignal>
#include <memory>

namespace mp {

/// As long as this exists, signal handlers of the thread that made it have a
/// stack of their own. Without one, a thread that overflows its stack ends the
/// process before a handler can report where. LLVM gives one only to the main
/// thread.
class SignalStack {
public:
  SignalStack() {
    if (sigaltstack(nullptr, &before) != 0 || !(before.ss_flags & SS_DISABLE))
      return;
    // LLVM's handlers need this to print a stack trace.
    const size_t size = MINSIGSTKSZ + 64 * 1024;
    bytes = std::make_unique_for_overwrite<char[]>(size);
    stack_t own = {};
    own.ss_sp = bytes.get();
    own.ss_size = size;
    sigaltstack(&own, nullptr);
  }
  ~SignalStack() {
    if (bytes)
      sigaltstack(&before, nullptr);
  }
  SignalStack(const SignalStack &) = delete;

private:
  stack_t before = {};
  std::unique_ptr<char[]> bytes;
};

} // namespace mp

#endif // MP_SUPPORT_SIGNALSTACK_H
