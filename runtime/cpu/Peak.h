//===- Peak.h - the fastest arithmetic of this machine's cores ------------===//
#ifndef MP_RUNTIME_CPU_PEAK_H
#define MP_RUNTIME_CPU_PEAK_H

#include "program/Program.h"
#include "runtime/ThreadPool.h"

namespace mp {

/// Floating-point operations in 1e9 a second, all workers of the pool together
/// and nothing from memory: f32 multiply-adds; for BF16 dot products of pairs,
/// where the CPU has them and they are faster than those. 0: it has none of the
/// instructions that we know. Takes some 20 milliseconds a type.
double measurePeak(ThreadPool &pool, ElementType type);

/// Bytes read and written in 1e9 a second where the workers copy a block of
/// `bytes` after the other, each thread its share of it.
double measureCopy(ThreadPool &pool, char *to, const char *from,
                   uint64_t bytes);

} // namespace mp

#endif // MP_RUNTIME_CPU_PEAK_H
