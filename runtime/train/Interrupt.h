//===- Interrupt.h - stopping on Ctrl-C at a safe point -------------------===//
#ifndef MP_RUNTIME_TRAIN_INTERRUPT_H
#define MP_RUNTIME_TRAIN_INTERRUPT_H

#include <csignal>

namespace mp {

/// As long as an object of this class exists, SIGINT and SIGTERM set a flag
/// instead of ending the process. A second signal, of either kind, ends the
/// process at once. The destructor restores the handlers.
class Interrupt {
public:
  /// Does nothing unless `active`.
  explicit Interrupt(bool active);
  ~Interrupt();
  Interrupt(const Interrupt &) = delete;

  /// Returns the signal that came, or 0.
  int requested() const;

private:
  bool active;
  struct sigaction oldInterrupt = {}, oldTerminate = {};
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_INTERRUPT_H
