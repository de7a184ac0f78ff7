//===- Enums.cpp - the enumerations of C and their names ------------------===//
#include "api/c/Enums.h"

using namespace llvm;
using namespace mantissa;
using namespace mantissa::c;

//===----------------------------------------------------------------------===//
// Each value of C++ and that of C, which have to be the same number. A value
// that one of the switches lacks does not compile.
//===----------------------------------------------------------------------===//

#pragma GCC diagnostic error "-Wswitch"

static constexpr int32_t inC(ElementType element) {
  switch (element) {
  case ElementType::I1:
    return MANTISSA_I1;
  case ElementType::I8:
    return MANTISSA_I8;
  case ElementType::U8:
    return MANTISSA_U8;
  case ElementType::I32:
    return MANTISSA_I32;
  case ElementType::I64:
    return MANTISSA_I64;
  case ElementType::F8E4M3FN:
    return MANTISSA_F8E4M3FN;
  case ElementType::F8E5M2:
    return MANTISSA_F8E5M2;
  case ElementType::F16:
    return MANTISSA_F16;
  case ElementType::BF16:
    return MANTISSA_BF16;
  case ElementType::F32:
    return MANTISSA_F32;
  case ElementType::F64:
    return MANTISSA_F64;
  case ElementType::I16:
    return MANTISSA_I16;
  case ElementType::U16:
    return MANTISSA_U16;
  case ElementType::U32:
    return MANTISSA_U32;
  }
  return -1;
}

static constexpr int32_t inC(Precision precision) {
  switch (precision) {
  case Precision::Recipe:
    return MANTISSA_PRECISION_RECIPE;
  case Precision::FP32:
    return MANTISSA_PRECISION_FP32;
  case Precision::TF32:
    return MANTISSA_PRECISION_TF32;
  case Precision::FP16:
    return MANTISSA_PRECISION_FP16;
  case Precision::BF16:
    return MANTISSA_PRECISION_BF16;
  case Precision::FP8:
    return MANTISSA_PRECISION_FP8;
  case Precision::Mixed16:
    return MANTISSA_PRECISION_16_MIXED;
  case Precision::MixedBF16:
    return MANTISSA_PRECISION_BF16_MIXED;
  case Precision::MixedFloat16:
    return MANTISSA_PRECISION_MIXED_FLOAT16;
  case Precision::MixedBFloat16:
    return MANTISSA_PRECISION_MIXED_BFLOAT16;
  case Precision::O0:
    return MANTISSA_PRECISION_O0;
  case Precision::O1:
    return MANTISSA_PRECISION_O1;
  case Precision::O2:
    return MANTISSA_PRECISION_O2;
  case Precision::O3:
    return MANTISSA_PRECISION_O3;
  }
  return -1;
}

static constexpr int32_t inC(Scaler scaler) {
  switch (scaler) {
  case Scaler::Recipe:
    return MANTISSA_SCALER_RECIPE;
  case Scaler::None:
    return MANTISSA_SCALER_NONE;
  case Scaler::Torch:
    return MANTISSA_SCALER_TORCH;
  case Scaler::Apex:
    return MANTISSA_SCALER_APEX;
  case Scaler::ApexHysteresis:
    return MANTISSA_SCALER_APEX_HYSTERESIS;
  case Scaler::Keras:
    return MANTISSA_SCALER_KERAS;
  case Scaler::Keras2:
    return MANTISSA_SCALER_KERAS2;
  case Scaler::DeepSpeed:
    return MANTISSA_SCALER_DEEPSPEED;
  case Scaler::DeepSpeedConsecutive:
    return MANTISSA_SCALER_DEEPSPEED_CONSECUTIVE;
  case Scaler::Megatron:
    return MANTISSA_SCALER_MEGATRON;
  case Scaler::Fairseq:
    return MANTISSA_SCALER_FAIRSEQ;
  case Scaler::Jmp:
    return MANTISSA_SCALER_JMP;
  case Scaler::Static:
    return MANTISSA_SCALER_STATIC;
  }
  return -1;
}

/// Whether the values from 0 to `last` are the same numbers on both sides, and
/// there is none after it.
template <typename Enum> static constexpr bool areSame(Enum last) {
  for (int32_t i = 0; i <= int32_t(last); ++i)
    if (inC(Enum(i)) != i)
      return false;
  return inC(Enum(int32_t(last) + 1)) == -1;
}

template <typename Enum> static constexpr Enum kLast = Enum();
template <>
constexpr ElementType kLast<ElementType> = ElementType(MANTISSA_U32);
template <>
constexpr Precision kLast<Precision> = Precision(MANTISSA_PRECISION_O3);
template <> constexpr Scaler kLast<Scaler> = Scaler(MANTISSA_SCALER_STATIC);

static_assert(areSame(kLast<ElementType>));
static_assert(areSame(kLast<Precision>));
static_assert(areSame(kLast<Scaler>));

//===----------------------------------------------------------------------===//
// Values of a caller
//===----------------------------------------------------------------------===//

template <typename Enum> static bool isOne(int32_t value) {
  return value >= 0 && value <= int32_t(kLast<Enum>);
}

template <typename Enum>
static Expected<Enum> take(StringRef name, int32_t value) {
  if (isOne<Enum>(value))
    return Enum(value);
  return argumentError("{0} is {1}, expected a value from 0 to {2}", name,
                       value, int32_t(kLast<Enum>));
}

Expected<ElementType> c::takeElement(StringRef name, mantissa_element value) {
  return take<ElementType>(name, value);
}
Expected<Precision> c::takePrecision(StringRef name, mantissa_precision value) {
  return take<Precision>(name, value);
}
Expected<Scaler> c::takeScaler(StringRef name, mantissa_scaler value) {
  return take<Scaler>(name, value);
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

// The names are literals: a zero follows.
const char *mantissa_element_name(mantissa_element element) {
  return isOne<ElementType>(element)
             ? mp::elementTypeName(ElementType(element)).data()
             : nullptr;
}
size_t mantissa_element_size(mantissa_element element) {
  return isOne<ElementType>(element) ? mp::byteWidth(ElementType(element)) : 0;
}
const char *mantissa_precision_name(mantissa_precision precision) {
  return isOne<Precision>(precision) ? toString(Precision(precision)).data()
                                     : nullptr;
}
const char *mantissa_scaler_name(mantissa_scaler scaler) {
  return isOne<Scaler>(scaler) ? toString(Scaler(scaler)).data() : nullptr;
}

/// Sets a number of C to the value that a name parses to.
template <typename Enum>
static Error give(Expected<Enum> parsed, int32_t *value) {
  if (!parsed)
    return parsed.takeError();
  *value = int32_t(*parsed);
  return Error::success();
}

mantissa_status *mantissa_precision_parse(const char *name,
                                          mantissa_precision *precision) {
  return call({{"name", name}, {"precision", precision}},
              [&] { return give(parsePrecision(name), precision); });
}
mantissa_status *mantissa_scaler_parse(const char *name,
                                       mantissa_scaler *scaler) {
  return call({{"name", name}, {"scaler", scaler}},
              [&] { return give(parseScaler(name), scaler); });
}
