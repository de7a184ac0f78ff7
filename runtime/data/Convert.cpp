//===- Convert.cpp - elements from one type to another --------------------===//
//
// f16 and bf16 go through APFloat, whose rounding is the project's reference;
// 16-bit values are few enough that reading uses a table.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/Convert.h"
#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cstring>

using namespace llvm;

namespace mp {
namespace {

template <typename T> T load(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T> void store(T value, char *bytes) {
  std::memcpy(bytes, &value, sizeof(T));
}

const fltSemantics &semanticsOf(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
    return APFloat::Float8E4M3FN();
  case ElementType::F8E5M2:
    return APFloat::Float8E5M2();
  case ElementType::F16:
    return APFloat::IEEEhalf();
  default:
    return APFloat::BFloat();
  }
}

double decodeByte(ElementType type, uint8_t bits) {
  return APFloat(semanticsOf(type), APInt(8, bits)).convertToFloat();
}

std::vector<float> makeTable(const fltSemantics &semantics) {
  std::vector<float> table(1 << 16);
  for (unsigned bits = 0; bits < table.size(); ++bits) {
    APFloat value(semantics, APInt(16, bits));
    table[bits] = value.convertToFloat();
  }
  return table;
}

float decode(ElementType type, uint16_t bits) {
  if (type == ElementType::BF16)
    return std::bit_cast<float>(uint32_t(bits) << 16);
  static const std::vector<float> table = makeTable(APFloat::IEEEhalf());
  return table[bits];
}

uint16_t narrow(ElementType type, double value) {
  APFloat number(value);
  bool lost;
  number.convert(semanticsOf(type), APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

} // namespace

bool isInteger(ElementType type) { return !isFloat(type); }

int64_t loadInteger(ElementType type, const char *bytes) {
  switch (type) {
  case ElementType::I8:
    return load<int8_t>(bytes);
  case ElementType::I16:
    return load<int16_t>(bytes);
  case ElementType::U16:
    return load<uint16_t>(bytes);
  case ElementType::I32:
    return load<int32_t>(bytes);
  case ElementType::U32:
    return load<uint32_t>(bytes);
  case ElementType::I64:
    return load<int64_t>(bytes);
  default:
    return load<uint8_t>(bytes);
  }
}

double loadElement(ElementType type, const char *bytes) {
  switch (type) {
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return decodeByte(type, load<uint8_t>(bytes));
  case ElementType::F16:
  case ElementType::BF16:
    return decode(type, load<uint16_t>(bytes));
  case ElementType::F32:
    return load<float>(bytes);
  case ElementType::F64:
    return load<double>(bytes);
  default:
    return static_cast<double>(loadInteger(type, bytes));
  }
}

void storeInteger(ElementType type, int64_t value, char *bytes) {
  switch (type) {
  case ElementType::I1:
    return store<uint8_t>(value != 0, bytes);
  case ElementType::I16:
  case ElementType::U16:
    return store(static_cast<uint16_t>(value), bytes);
  case ElementType::I32:
  case ElementType::U32:
    return store(static_cast<uint32_t>(value), bytes);
  case ElementType::I64:
    return store(value, bytes);
  default:
    return store(static_cast<uint8_t>(value), bytes);
  }
}

void storeElement(ElementType type, double value, char *bytes) {
  switch (type) {
  case ElementType::I1:
    return store<uint8_t>(value != 0, bytes);
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::I32:
  case ElementType::U32:
  case ElementType::I64:
    return storeInteger(type, static_cast<int64_t>(value), bytes);
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return store(static_cast<uint8_t>(narrow(type, value)), bytes);
  case ElementType::F16:
  case ElementType::BF16:
    return store(narrow(type, value), bytes);
  case ElementType::F32:
    return store(static_cast<float>(value), bytes);
  case ElementType::F64:
    return store(value, bytes);
  }
}

void convertElements(ElementType fromType, ArrayRef<char> from,
                     ElementType toType, MutableArrayRef<char> to) {
  if (fromType == toType) {
    std::copy(from.begin(), from.end(), to.begin());
    return;
  }
  unsigned fromWidth = byteWidth(fromType), toWidth = byteWidth(toType);
  for (size_t i = 0, e = from.size() / fromWidth; i < e; ++i)
    storeElement(toType, loadElement(fromType, from.data() + i * fromWidth),
                 to.data() + i * toWidth);
}

} // namespace mp
