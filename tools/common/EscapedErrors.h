//===- EscapedErrors.h - standard error without controls --------*- C++ -*-===//
#ifndef MP_TOOLS_COMMON_ESCAPEDERRORS_H
#define MP_TOOLS_COMMON_ESCAPEDERRORS_H

#include <sys/types.h>

namespace mp::tool {

/// As long as this exists, control characters that go to standard error are
/// shown as withoutControls (support/Error.h) has them. Upstream's mains print
/// names, strings and lines of a module as they are. A process of its own does
/// it, so that the report of a crash arrives too.
class EscapedErrors {
public:
  /// Does nothing unless `isNeeded`: standard error then is a pipe, and
  /// upstream prints no colours.
  explicit EscapedErrors(bool isNeeded);
  ~EscapedErrors();
  EscapedErrors(const EscapedErrors &) = delete;

private:
  int before = -1; ///< the standard error of before, or -1
  pid_t child = -1;
};

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_ESCAPEDERRORS_H
