//===- PrecisionName.h - other systems' names of precisions -----*- C++ -*-===//
#ifndef MP_PROGRAM_PRECISIONNAME_H
#define MP_PROGRAM_PRECISIONNAME_H

#include "llvm/ADT/StringSwitch.h"

namespace mp {

/// Returns the name here of a precision that another system calls differently:
/// "fp16" for "half".
inline llvm::StringRef canonicalPrecision(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"f32", "float32", "float", "single", "32", "32-true"}, "fp32")
      .Cases({"f16", "float16", "half"}, "fp16")
      .Case("bfloat16", "bf16")
      .Cases({"f8", "float8"}, "fp8")
      .Default(name);
}

} // namespace mp

#endif // MP_PROGRAM_PRECISIONNAME_H
