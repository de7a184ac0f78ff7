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

/// Fills `storage`, `variable.type.bytes()` long, by the variable's
/// initialiser; a derived variable gets zeros. The key is `seed`; the counter
/// is the element's index / 4 and a hash of the variable's name, so a value
/// depends on nothing else, neither on other variables nor on the number of
/// threads.
///
/// uniform: a + (b - a) u, where u has 24 random bits. normal: Box-Muller. Both
/// are computed in f64 and rounded once to the element type, and uniform stays
/// below b after rounding. Fails if the element type cannot hold the values.
llvm::Error fill(const Variable &variable, uint64_t seed,
                 llvm::MutableArrayRef<char> storage, ThreadPool &pool);

} // namespace mp

#endif // MP_RUNTIME_INITIALIZE_H
