//===- Peak.h - the fastest arithmetic of this machine's cores ------------===//
#ifndef MP_RUNTIME_CPU_PEAK_H
#define MP_RUNTIME_CPU_PEAK_H

#include "program/Program.h"
#include "runtime/ThreadPool.h"

namespace mp {

/// The peak of all workers together without memory traffic, in 1e9
/// floating-point operations per second: f32 multiply-adds, or for BF16 dot
/// products of pairs if the CPU has them and they are faster. 0 if the CPU has
/// none of the instructions that we know. Takes some 20 milliseconds per type.
double measurePeak(ThreadPool &pool, ElementType type);

/// The peak of one kind of instructions.
struct Peak {
  llvm::StringRef instructions; ///< "multiply-adds", "dot products", "tiles"
  double rate = 0;              ///< in 1e9 floating-point operations per second
};

/// The peaks of all instructions by which the CPU multiplies elements of this
/// type.
std::vector<Peak> measureEachPeak(ThreadPool &pool, ElementType type);

/// The speed of one copy of `bytes` bytes, of which each worker copies its
/// share, in 1e9 bytes read and written per second.
double measureCopy(ThreadPool &pool, char *to, const char *from,
                   uint64_t bytes);

} // namespace mp

#endif // MP_RUNTIME_CPU_PEAK_H
