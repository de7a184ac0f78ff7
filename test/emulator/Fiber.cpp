//===- Fiber.cpp - a stack of its own for each CUDA thread ----------------===//

#include "Fiber.h"

#include <cstdlib>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace mp::emulator {

// Kernels keep their tiles in registers; spilled ones need a few KiB.
constexpr size_t stackBytes = 128 << 10;

static Fiber *starting; // the fiber that `enter` runs

#if defined(__x86_64__)

// swapcontext saves the signal mask by a system call, which is a hundred times
// as long as the rest; a kernel of the emulator switches millions of times.
// Saves the registers that a call preserves and the stack in *from; goes to
// the stack `to`.
extern "C" void mpSwitchStack(void **from, void *to);
asm(R"(
  .text
  .hidden mpSwitchStack
  .globl mpSwitchStack
  .type mpSwitchStack, @function
mpSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size mpSwitchStack, .-mpSwitchStack
)");

struct Fiber::State {
  void *own = nullptr, *caller = nullptr;

  void prepare(const GuardedRange &stack, void (*enter)()) {
    // Stacks that all end at a page's end would share a few sets of the cache.
    static size_t count = 0;
    size_t shift = ++count % 61 * 128;
    auto **top = reinterpret_cast<void **>(stack.data() + stack.size() - shift);
    // As after a call: the stack pointer is 8 past a multiple of 16.
    *--top = nullptr;
    *--top = reinterpret_cast<void *>(enter);
    for (int saved = 0; saved < 6; ++saved)
      *--top = nullptr;
    own = top;
  }
  void go() { mpSwitchStack(&caller, own); }
  void comeBack() { mpSwitchStack(&own, caller); }
};

#else

struct Fiber::State {
  ucontext_t own, caller;

  void prepare(const GuardedRange &stack, void (*enter)()) {
    getcontext(&own);
    own.uc_stack.ss_sp = stack.data();
    own.uc_stack.ss_size = stack.size();
    makecontext(&own, enter, 0);
  }
  void go() { swapcontext(&caller, &own); }
  void comeBack() { swapcontext(&own, &caller); }
};

#endif

Fiber::Fiber() : stack(stackBytes, 16), state(new State) {
  if (!stack.data())
    abort(); // no memory for a stack of 128 KiB
}
Fiber::~Fiber() { delete state; }

void Fiber::enter() {
  Fiber *self = starting;
  self->body(self->argument);
  self->pause();
  abort(); // whoever resumes a fiber that returned
}

void Fiber::start(void (*newBody)(void *), void *newArgument) {
  body = newBody;
  argument = newArgument;
  state->prepare(stack, enter);
}

void Fiber::resume() {
  starting = this;
  state->go();
}

void Fiber::pause() { state->comeBack(); }

bool Fiber::overflowed(const void *address) const {
  const auto *byte = static_cast<const unsigned char *>(address);
  return byte >= stack.mapping() && byte < stack.data();
}

} // namespace mp::emulator
