//===- Initialize.cpp - first values of variables -------------------------===//
#include "runtime/Initialize.h"
#include "runtime/ThreadPool.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace mp;

std::array<uint32_t, 4> mp::philox(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) {
  constexpr uint32_t weyl[] = {0x9E3779B9, 0xBB67AE85};
  constexpr uint64_t factor[] = {0xD2511F53, 0xCD9E8D57};
  for (int round = 0; round < 10; ++round) {
    uint64_t left = factor[0] * counter[0], right = factor[1] * counter[2];
    counter = {static_cast<uint32_t>(right >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(right),
               static_cast<uint32_t>(left >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(left)};
    key = {key[0] + weyl[0], key[1] + weyl[1]};
  }
  return counter;
}

namespace {

/// Element types as C++ types: how a double is rounded to one, once and to
/// nearest even, and which double that is.
template <typename T> struct Native {
  using Storage = T;
  static constexpr bool isFloat = std::is_floating_point_v<T>;
  static T encode(double value) { return static_cast<T>(value); }
  static double decode(T value) { return static_cast<double>(value); }
  static T toward(T from, bool up) {
    T infinity = std::numeric_limits<T>::infinity();
    return std::nextafter(from, up ? infinity : -infinity);
  }
};

template <const llvm::fltSemantics &(*semantics)(), typename Bits = uint16_t>
struct Narrow {
  using Storage = Bits;
  static constexpr bool isFloat = true;
  static Storage bits(const llvm::APFloat &value) {
    return static_cast<Storage>(value.bitcastToAPInt().getZExtValue());
  }
  static llvm::APFloat number(Storage value) {
    return llvm::APFloat(semantics(), llvm::APInt(8 * sizeof(Bits), value));
  }
  static Storage encode(double value) {
    llvm::APFloat result(value);
    bool inexact;
    result.convert(semantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    return bits(result);
  }
  static double decode(Storage value) {
    return number(value).convertToDouble();
  }
  static Storage toward(Storage from, bool up) {
    llvm::APFloat result = number(from);
    result.next(/*nextDown=*/!up);
    return bits(result);
  }
};

using Half = Narrow<llvm::APFloat::IEEEhalf>;
using BFloat = Narrow<llvm::APFloat::BFloat>;

/// Four random words for elements 4 * block to 4 * block + 3.
struct Source {
  std::array<uint32_t, 2> key;
  uint64_t stream;
  std::array<uint32_t, 4> operator()(uint64_t block) const {
    return philox({llvm::Lo_32(block), llvm::Hi_32(block), llvm::Lo_32(stream),
                   llvm::Hi_32(stream)},
                  key);
  }
};

/// Rounding may leave [a, b), as the type may not be able to represent a and b.
template <typename Type>
typename Type::Storage uniform(const Initializer &init, uint32_t word) {
  double unit = (word >> 8) * 0x1p-24;
  typename Type::Storage value =
      Type::encode(init.a + (init.b - init.a) * unit);
  if (Type::decode(value) >= init.b)
    return Type::toward(value, /*up=*/false);
  return value;
}

/// Two normal values from two words (Box and Muller, 1958).
std::pair<double, double> boxMuller(uint32_t first, uint32_t second) {
  constexpr double tau = 6.283185307179586;
  double radius = std::sqrt(-2 * std::log((first + 1.0) * 0x1p-32));
  double angle = tau * (second * 0x1p-32);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

template <typename Type>
void fillBlock(const Initializer &init, const std::array<uint32_t, 4> &words,
               typename Type::Storage *out, unsigned count) {
  if (init.kind == Initializer::Kind::Uniform) {
    for (unsigned i = 0; i < count; ++i)
      out[i] = uniform<Type>(init, words[i]);
    return;
  }
  for (unsigned i = 0; i < count; i += 2) {
    auto [first, second] = boxMuller(words[i], words[i + 1]);
    out[i] = Type::encode(init.a + init.b * first);
    if (i + 1 < count)
      out[i + 1] = Type::encode(init.a + init.b * second);
  }
}

template <typename Type>
void fillRandom(const Initializer &init, const Source &source, char *storage,
                int64_t elements, ThreadPool &pool) {
  constexpr int64_t perTask = 1 << 14;
  auto *out = reinterpret_cast<typename Type::Storage *>(storage);
  pool.run(llvm::divideCeil(elements, perTask), [&](int64_t task, unsigned) {
    int64_t end = std::min(elements, (task + 1) * perTask);
    for (int64_t i = task * perTask; i < end; i += 4)
      fillBlock<Type>(init, source(i / 4), out + i,
                      std::min<int64_t>(4, end - i));
  });
}

template <typename Storage>
void fillConstant(Storage value, char *storage, int64_t elements) {
  std::fill_n(reinterpret_cast<Storage *>(storage), elements, value);
}

/// Whether `value` is one of the integers that `type` holds.
bool holds(ElementType type, double value) {
  if (std::trunc(value) != value) // also true of NaN
    return false;
  switch (type) {
  case ElementType::I1:
    return value == 0 || value == 1;
  case ElementType::I8:
    return value >= -128 && value <= 127;
  case ElementType::U8:
    return value >= 0 && value <= 255;
  case ElementType::I16:
    return value >= -0x1p15 && value < 0x1p15;
  case ElementType::U16:
    return value >= 0 && value < 0x1p16;
  case ElementType::U32:
    return value >= 0 && value < 0x1p32;
  case ElementType::I32:
    return value >= -0x1p31 && value < 0x1p31;
  default:
    return value >= -0x1p63 && value < 0x1p63;
  }
}

llvm::Error refuse(const Variable &variable, const llvm::Twine &why) {
  std::string at = variable.location.str();
  return llvm::createStringError((at.empty() ? "" : at + ": ") + "variable '" +
                                 variable.name + "' of type " +
                                 variable.type.str() + " " + why);
}

std::string digits(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

llvm::Error checkInitializer(const Variable &variable) {
  const Initializer &init = variable.init;
  if (init.kind == Initializer::Kind::Seed)
    return variable.type.element == ElementType::I64
               ? llvm::Error::success()
               : refuse(variable, "cannot hold the seed, which is an i64");
  if (isFloat(variable.type.element)) {
    bool ordered = init.kind != Initializer::Kind::Uniform || init.a < init.b;
    return ordered ? llvm::Error::success()
                   : refuse(variable, "has an empty uniform range [" +
                                          digits(init.a) + ", " +
                                          digits(init.b) + ")");
  }
  if (init.kind != Initializer::Kind::Constant)
    return refuse(variable, "cannot hold random numbers");
  if (!holds(variable.type.element, init.a))
    return refuse(variable, "cannot hold " + digits(init.a));
  return llvm::Error::success();
}

/// Calls `use` with a value of the C++ type that describes `type`.
template <typename Use> void dispatch(ElementType type, Use use) {
  switch (type) {
  case ElementType::I1:
  case ElementType::U8:
    return use(Native<uint8_t>());
  case ElementType::I8:
    return use(Native<int8_t>());
  case ElementType::I16:
    return use(Native<int16_t>());
  case ElementType::U16:
    return use(Native<uint16_t>());
  case ElementType::I32:
    return use(Native<int32_t>());
  case ElementType::U32:
    return use(Native<uint32_t>());
  case ElementType::I64:
    return use(Native<int64_t>());
  case ElementType::F8E4M3FN:
    return use(Narrow<llvm::APFloat::Float8E4M3FN, uint8_t>());
  case ElementType::F8E5M2:
    return use(Narrow<llvm::APFloat::Float8E5M2, uint8_t>());
  case ElementType::F16:
    return use(Half());
  case ElementType::BF16:
    return use(BFloat());
  case ElementType::F32:
    return use(Native<float>());
  case ElementType::F64:
    return use(Native<double>());
  }
}

} // namespace

void mp::copyPart(llvm::ArrayRef<char> whole, int64_t rank,
                  llvm::MutableArrayRef<char> part) {
  llvm::ArrayRef<char> own =
      whole.drop_front(std::min<uint64_t>(rank * part.size(), whole.size()))
          .take_front(part.size());
  char *end = llvm::copy(own, part.begin());
  std::fill(end, part.end(), 0);
}

llvm::Error mp::fill(const Variable &variable, uint64_t seed,
                     llvm::MutableArrayRef<char> storage, ThreadPool &pool,
                     int64_t rank) {
  if (variable.whole) {
    Variable whole = variable;
    whole.type = *whole.whole;
    whole.whole.reset();
    std::vector<char> all(whole.type.bytes());
    if (llvm::Error error = fill(whole, seed, all, pool))
      return error;
    copyPart(all, rank, storage);
    return llvm::Error::success();
  }
  const Initializer &init = variable.init;
  if (init.kind == Initializer::Kind::Derived) {
    std::memset(storage.data(), 0, storage.size());
    return llvm::Error::success();
  }
  if (llvm::Error error = checkInitializer(variable))
    return error;
  int64_t elements = variable.type.elements();
  if (init.kind == Initializer::Kind::Seed) {
    fillConstant(seed, storage.data(), elements);
    return llvm::Error::success();
  }
  Source source{{llvm::Lo_32(seed), llvm::Hi_32(seed)},
                llvm::xxh3_64bits(variable.name)};
  dispatch(variable.type.element, [&](auto type) {
    using Type = decltype(type);
    if (init.kind == Initializer::Kind::Constant)
      fillConstant(Type::encode(init.a), storage.data(), elements);
    else if constexpr (Type::isFloat)
      fillRandom<Type>(init, source, storage.data(), elements, pool);
  });
  return llvm::Error::success();
}
