//===- OneSource.h - all kernels of a Program as one text -------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_ONESOURCE_H
#define MP_CODEGEN_CUDA_ONESOURCE_H

#include "program/Program.h"

namespace mp::cuda {

/// A kernel is a source of its own, and what is in it has the same names in
/// each. This is all of them as one, for a reader and for a compiler: every
/// header once, or where `withHeaders` is not set, one `#include` for each;
/// then each kernel in a namespace of its name, under a comment that says what
/// it was made of and where that stands.
std::string printOneSource(const Program &program, bool withHeaders);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_ONESOURCE_H
