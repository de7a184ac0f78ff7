//===- Npy.h - NumPy's array files ----------------------------------------===//
#ifndef MP_RUNTIME_DATA_NPY_H
#define MP_RUNTIME_DATA_NPY_H

#include "runtime/data/Array.h"

namespace mp {

/// Reads a .npy file, format versions 1 to 3, C order, little-endian: f2, f4,
/// f8, i1, u1, i2, u2, i4, u4, i8, b1 (numpy.lib.format). Errors name the file
/// and what was found.
llvm::Expected<Array> readNpy(llvm::StringRef path);

/// Writes `bytes` of `type` as .npy version 1, atomically. NumPy has no bf16,
/// so it is widened to f32, which is exact.
llvm::Error writeNpy(llvm::StringRef path, const TensorType &type,
                     llvm::ArrayRef<char> bytes);

} // namespace mp

#endif // MP_RUNTIME_DATA_NPY_H
