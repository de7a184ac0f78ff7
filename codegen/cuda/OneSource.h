//===- OneSource.h - all kernels of a Program as one text -------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_ONESOURCE_H
#define MP_CODEGEN_CUDA_ONESOURCE_H

#include "program/Program.h"

namespace mp::cuda {

/// Prints all kernels of a Program as one source, for a reader and for a
/// compiler. (Each is a source of its own, and all use the same names.) It has
/// every header once, or if `withHeaders` is not set, one `#include` for each;
/// then each kernel in a namespace of its name, under a comment that tells its
/// ops and their locations.
std::string printOneSource(const Program &program, bool withHeaders);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_ONESOURCE_H
