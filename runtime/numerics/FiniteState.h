//===- FiniteState.h - variables that are not finite ------------*- C++ -*-===//
#ifndef MP_RUNTIME_NUMERICS_FINITESTATE_H
#define MP_RUNTIME_NUMERICS_FINITESTATE_H

#include "runtime/Session.h"
#include "llvm/ADT/StringSet.h"

namespace mp {

/// Returns whether no element is infinite or NaN.
bool allFinite(const TensorType &type, llvm::ArrayRef<char> bytes);

/// Looks for parameters, buffers and slots that are not finite.
class FiniteState {
public:
  /// Leaves out what is not finite now: a module may begin with infinities, as
  /// in a mask or for a running minimum. Of a run that is resumed, these are
  /// buffers alone: steps have changed the rest.
  llvm::Error begin(Session &session, bool isResumed);
  /// Returns the first variable that is not finite, as "parameter 'w'", or "".
  llvm::Expected<std::string> firstBroken(Session &session) const;

private:
  llvm::StringSet<> exempt;
};

} // namespace mp

#endif // MP_RUNTIME_NUMERICS_FINITESTATE_H
