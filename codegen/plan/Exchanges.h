//===- Exchanges.h - calls that go on while later steps run -----*- C++ -*-===//
//
// A call that exchanges tensors between ranks only starts it, so that other
// steps run meanwhile. A step that touches one of the tensors waits first.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_PLAN_EXCHANGES_H
#define MP_CODEGEN_PLAN_EXCHANGES_H

#include "codegen/Backend.h"
#include "codegen/stages/Anchor.h"

namespace mp {

/// The exchanges of an entry point that are under way.
class Exchanges {
public:
  /// A call that waits for an exchange, and what it touches.
  struct Wait {
    Call step;
    StepBufferRefs touched;
  };

  /// Adds the exchange that the last step has started.
  void started(llvm::StringRef waitRoutine, StepBufferRefs touched);
  /// Returns the waits that must precede a step which touches these places:
  /// exchanges end in the order in which they started.
  std::vector<Wait> until(const StepBufferRefs &touched);
  /// Returns the waits for all that are left.
  std::vector<Wait> all() { return take(pending.size()); }

private:
  std::vector<Wait> take(size_t count);

  std::vector<Wait> pending;
  int64_t count = 0; ///< started so far
};

/// Whether a kernel of an anchor alone may compute a result in the memory of an
/// operand.
bool allowsInPlace(AnchorOpInterface anchor, unsigned operand, unsigned result);

} // namespace mp

#endif // MP_CODEGEN_PLAN_EXCHANGES_H
