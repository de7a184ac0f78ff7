//===- Philox.h - counter-based random numbers ----------------------------===//
#ifndef MP_RUNTIME_PHILOX_H
#define MP_RUNTIME_PHILOX_H

#include <array>
#include <cstdint>

namespace mp {

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// SC 2011, section 3.3): four words of 32 random bits for a counter and a key.
constexpr std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                         std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0];
    uint64_t b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b),
               uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

} // namespace mp

#endif // MP_RUNTIME_PHILOX_H
