//===- Enums.h - the enumerations of C as those of C++ ----------*- C++ -*-===//
#ifndef MP_API_C_ENUMS_H
#define MP_API_C_ENUMS_H

#include "api/c/Call.h"
#include "mantissa.h"

namespace mantissa::c {

/// Values are the same on both sides, which Enums.cpp proves. An error names
/// the field or argument, which has a value that is in no enumeration.
llvm::Expected<ElementType> takeElement(llvm::StringRef name,
                                        mantissa_element value);
llvm::Expected<Precision> takePrecision(llvm::StringRef name,
                                        mantissa_precision value);
llvm::Expected<Scaler> takeScaler(llvm::StringRef name, mantissa_scaler value);

} // namespace mantissa::c

#endif // MP_API_C_ENUMS_H
