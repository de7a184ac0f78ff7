//===- PolicyLookup.h - from a policy's name to a policy --------*- C++ -*-===//
#ifndef MP_PASSES_AUTOCAST_POLICYLOOKUP_H
#define MP_PASSES_AUTOCAST_POLICYLOOKUP_H

#include "passes/autocast/Policy.h"

namespace mp {

/// Returns the policy that `name` stands for: a preset ("torch"), a file
/// ("mine.json"), an `mp.policy` of the module ("@mine"), or jmp's three types
/// ("jmp:p=f32,c=f16,o=f32"). Checks the spelling of its names, and that it is
/// made for `low`. Fails with a diagnostic at `from`, or at the policy.
llvm::FailureOr<Policy> lookUpPolicy(mlir::Operation *from,
                                     llvm::StringRef name, mlir::FloatType low);

} // namespace mp

#endif // MP_PASSES_AUTOCAST_POLICYLOOKUP_H
