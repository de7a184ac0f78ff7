//===- Names.cpp - enumerations by name -----------------------------------===//
#include "mantissa.h"
#include "program/PrecisionName.h"
#include "support/Error.h"
#include "support/Spelling.h"

using namespace llvm;

namespace mantissa {

// In the order of the enumerations; the first one leaves a setting empty.
static constexpr StringLiteral kPrecisions[] = {
    "",         "fp32",       "tf32",          "fp16",           "bf16", "fp8",
    "16-mixed", "bf16-mixed", "mixed_float16", "mixed_bfloat16", "O0",   "O1",
    "O2",       "O3"};
static constexpr StringLiteral kScalers[] = {"",
                                             "none",
                                             "torch",
                                             "apex",
                                             "apex-hysteresis",
                                             "keras",
                                             "keras2",
                                             "deepspeed",
                                             "deepspeed-consecutive",
                                             "megatron",
                                             "fairseq",
                                             "jmp",
                                             "static"};
static_assert(std::size(kPrecisions) == size_t(Precision::O3) + 1);
static_assert(std::size(kScalers) == size_t(Scaler::Static) + 1);

template <typename Enum>
static Expected<Enum> parse(StringRef what, StringRef name,
                            ArrayRef<StringLiteral> names) {
  std::vector<std::string> known;
  for (auto [i, candidate] : enumerate(names)) {
    if (candidate == name)
      return static_cast<Enum>(i);
    if (!candidate.empty())
      known.push_back(candidate.str());
  }
  return mp::makeError("unknown {0} '{1}'{2}", what, name,
                       mp::suggest(name, known));
}

Expected<Precision> parsePrecision(StringRef name) {
  return parse<Precision>("precision", mp::canonicalPrecision(name),
                          kPrecisions);
}
Expected<Scaler> parseScaler(StringRef name) {
  return parse<Scaler>("loss scaler", name, kScalers);
}

/// Returns "" for a number that is none of the enumeration.
template <typename Enum>
static StringRef nameOf(Enum value, ArrayRef<StringLiteral> names) {
  auto index = static_cast<size_t>(value);
  return index < names.size() ? StringRef(names[index]) : "";
}
StringRef toString(Precision precision) {
  return nameOf(precision, kPrecisions);
}
StringRef toString(Scaler scaler) { return nameOf(scaler, kScalers); }

} // namespace mantissa
