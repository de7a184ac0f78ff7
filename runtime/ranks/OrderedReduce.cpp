//===- OrderedReduce.cpp - reduces what all ranks give, in their order ----===//
//
// A block of accumulators stays in the first-level cache while the ranks'
// elements pass by. The loops over a block have neither branches nor calls, so
// that the compiler makes vectors of them; this includes the conversions.
//
//===----------------------------------------------------------------------===//
#include "runtime/ranks/OrderedReduce.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <bit>
#include <type_traits>

using namespace mp;

namespace {

/// Elements of a block: 4 KiB of the widest accumulators.
constexpr int64_t kBlock = 512;

/// An element whose arithmetic is that of its own type.
template <typename T> struct Plain {
  using Stored = T;
  using Wide = T;
  static Wide widen(Stored value) { return value; }
  static Stored narrow(Wide value) { return value; }
};

struct Half {
  using Stored = uint16_t;
  using Wide = float;

  static float widen(uint16_t bits) {
    // The exponent's bias differs by 112; the product also makes subnormals
    // normal. Infinities and NaNs get the largest exponent of f32.
    uint32_t magnitude = bits & 0x7fffu;
    float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    uint32_t all = magnitude >= 0x7c00u ? 0x7f800000u : 0;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | all |
                                (uint32_t(bits & 0x8000u) << 16));
  }

  static uint16_t narrow(float value) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    uint32_t sign = bits & 0x80000000u, magnitude = bits ^ sign;
    // Below 2^-14, adding 0.5 rounds at the place of f16's last bit.
    uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
        std::bit_cast<uint32_t>(0.5f);
    uint32_t odd = (magnitude >> 13) & 1;
    uint32_t normal = (magnitude - (112u << 23) + 0xfffu + odd) >> 13;
    uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t finite = magnitude < (113u << 23) ? subnormal : normal;
    return (magnitude >= (143u << 23) ? special : finite) | (sign >> 16);
  }
};

struct Brain {
  using Stored = uint16_t;
  using Wide = float;

  static float widen(uint16_t bits) {
    return std::bit_cast<float>(uint32_t(bits) << 16);
  }

  static uint16_t narrow(float value) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    uint32_t quiet = (bits >> 16) | 0x40u;
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded;
  }
};

struct Sum {
  template <typename T> static T apply(T a, T b) { return a + b; }
};
struct Max {
  template <typename T> static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return b > a || b != b ? b : a;
    else
      return b > a ? b : a;
  }
};
struct Or {
  template <typename T> static T apply(T a, T b) { return a | b; }
};

template <typename Operation, typename Element>
void reduce(llvm::ArrayRef<const void *> contributions, int64_t n, void *to) {
  using Stored = typename Element::Stored;
  using Wide = typename Element::Wide;
  Wide total[kBlock];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    int64_t count = std::min(kBlock, n - begin);
    auto *first = static_cast<const Stored *>(contributions[0]) + begin;
    for (int64_t i = 0; i < count; ++i) {
      Wide value = Element::widen(first[i]);
      // A sum begins with +0, which makes +0 of -0.
      total[i] = std::is_same_v<Operation, Sum> ? Wide(0) + value : value;
    }
    for (const void *contribution : contributions.drop_front()) {
      auto *next = static_cast<const Stored *>(contribution) + begin;
      for (int64_t i = 0; i < count; ++i)
        total[i] =
            Operation::template apply<Wide>(total[i], Element::widen(next[i]));
    }
    auto *out = static_cast<Stored *>(to) + begin;
    for (int64_t i = 0; i < count; ++i)
      out[i] = Element::narrow(total[i]);
  }
}

using Reduce = void (*)(llvm::ArrayRef<const void *>, int64_t, void *);

/// Integers are summed as unsigned ones, which wrap.
Reduce summing(ElementType element) {
  switch (element) {
  case ElementType::F16:
    return reduce<Sum, Half>;
  case ElementType::BF16:
    return reduce<Sum, Brain>;
  case ElementType::F32:
    return reduce<Sum, Plain<float>>;
  case ElementType::F64:
    return reduce<Sum, Plain<double>>;
  case ElementType::I32:
  case ElementType::U32:
    return reduce<Sum, Plain<uint32_t>>;
  case ElementType::I64:
    return reduce<Sum, Plain<uint64_t>>;
  default:
    return nullptr;
  }
}

Reduce maximum(ElementType element) {
  switch (element) {
  case ElementType::F16:
    return reduce<Max, Half>;
  case ElementType::BF16:
    return reduce<Max, Brain>;
  case ElementType::F32:
    return reduce<Max, Plain<float>>;
  case ElementType::F64:
    return reduce<Max, Plain<double>>;
  case ElementType::I1:
  case ElementType::U8:
    return reduce<Max, Plain<uint8_t>>;
  case ElementType::I8:
    return reduce<Max, Plain<int8_t>>;
  case ElementType::I16:
    return reduce<Max, Plain<int16_t>>;
  case ElementType::U16:
    return reduce<Max, Plain<uint16_t>>;
  case ElementType::I32:
    return reduce<Max, Plain<int32_t>>;
  case ElementType::U32:
    return reduce<Max, Plain<uint32_t>>;
  case ElementType::I64:
    return reduce<Max, Plain<int64_t>>;
  default:
    return nullptr;
  }
}

Reduce reducing(Collective::Reduction reduction, ElementType element) {
  switch (reduction) {
  case Collective::Reduction::Sum:
    return summing(element);
  case Collective::Reduction::Max:
    return maximum(element);
  case Collective::Reduction::Or:
    return element == ElementType::I1 || element == ElementType::U8
               ? reduce<Or, Plain<uint8_t>>
               : nullptr;
  }
  llvm_unreachable("an unknown reduction");
}

} // namespace

bool mp::canReduce(Collective::Reduction reduction, ElementType element) {
  return reducing(reduction, element);
}

void mp::orderedReduce(Collective::Reduction reduction, ElementType element,
                       llvm::ArrayRef<const void *> contributions, int64_t n,
                       void *to) {
  Reduce function = reducing(reduction, element);
  assert(function && "ask canReduce first");
  function(contributions, n, to);
}
