//===- Interrupt.h - stopping on Ctrl-C at a safe point -------------------===//
#ifndef MP_RUNTIME_TRAIN_INTERRUPT_H
#define MP_RUNTIME_TRAIN_INTERRUPT_H

#include <csignal>

namespace mp {

/// As long as an Interrupt exists, SIGINT and SIGTERM set a flag instead of
/// ending the process; a second signal ends it at once. The destructor restores
/// the handlers.
class Interrupt {
public:
  /// Does nothing unless `active`.
  explicit Interrupt(bool active);
  ~Interrupt();
  Interrupt(const Interrupt &) = delete;

  bool requested() const;

private:
  bool active;
  struct sigaction oldInterrupt = {}, oldTerminate = {};
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_INTERRUPT_H
