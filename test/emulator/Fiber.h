//===- Fiber.h - a stack of its own for each CUDA thread ------------------===//
#ifndef MP_EMULATOR_FIBER_H
#define MP_EMULATOR_FIBER_H

#include "Memory.h"

namespace mp::emulator {

/// A function that can pause. `resume` runs one at a time; it returns control
/// with `pause`, from any depth of calls, or by returning.
class Fiber {
public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber &) = delete;

  /// Discards the fiber's work; `resume` will call body(argument).
  void start(void (*body)(void *), void *argument);
  /// Runs it until it pauses or returns.
  void resume();
  /// Called on the fiber.
  void pause();
  /// True if `address` is in the page below the stack.
  bool overflowed(const void *address) const;

private:
  struct State;
  static void enter();

  GuardedRange stack;
  State *state;
  void (*body)(void *) = nullptr;
  void *argument = nullptr;
};

} // namespace mp::emulator

#endif // MP_EMULATOR_FIBER_H
