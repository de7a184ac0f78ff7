//===- Initialize.h - first values of variables, from counted random bits -===//
#ifndef MP_RUNTIME_INITIALIZE_H
#define MP_RUNTIME_INITIALIZE_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <array>

namespace mp {

class ThreadPool;

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// SC 2011): 128 random bits that are a function of counter and key alone.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key);

/// Fills `storage`, which has `variable.type.bytes()` bytes, by the initialiser
/// of the variable: if that is part of a tensor, with what is `rank`'s of it. A
/// derived variable gets zeros. The key is `seed`. The counter is the index of
/// the element / 4 and a hash of the name, so values depend neither on other
/// variables nor on the number of threads or ranks.
///
/// uniform: a + (b - a) u, where u has 24 random bits. normal: Box-Muller. Both
/// are computed in f64 and rounded once to the element type, and uniform stays
/// below b after rounding. Fails if the element type cannot hold the values.
llvm::Error fill(const Variable &variable, uint64_t seed,
                 llvm::MutableArrayRef<char> storage, ThreadPool &pool,
                 int64_t rank = 0);

/// Fills `part` with what is `rank`'s of a tensor whose bytes are `whole`, and
/// zeros (Variable::whole).
void copyPart(llvm::ArrayRef<char> whole, int64_t rank,
              llvm::MutableArrayRef<char> part);

} // namespace mp

#endif // MP_RUNTIME_INITIALIZE_H
