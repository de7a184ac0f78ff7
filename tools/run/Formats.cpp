//===- Formats.cpp - mp-run formats ---------------------------------------===//
#include "support/Error.h"
#include "tools/run/Commands.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace mp::tool {
namespace {

struct NumberFormat {
  const char *name;
  const fltSemantics &(*semantics)();
  unsigned exponentBits;
};
const NumberFormat kFormats[] = {
    {"fp64", APFloat::IEEEdouble, 11}, {"fp32", APFloat::IEEEsingle, 8},
    {"tf32", APFloat::FloatTF32, 8},   {"fp16", APFloat::IEEEhalf, 5},
    {"bf16", APFloat::BFloat, 8},      {"e4m3", APFloat::Float8E4M3FN, 4},
    {"e5m2", APFloat::Float8E5M2, 5},
};

double toDouble(APFloat number) {
  bool loses;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}

/// Returns the fewest digits that tell a number from every other double.
std::string digits(const APFloat &number) {
  if (number.isNaN())
    return "nan";
  if (number.isInfinity())
    return number.isNegative() ? "-inf" : "inf";
  SmallString<32> text;
  APFloat(toDouble(number)).toString(text, 0, /*FormatMaxPadding=*/8);
  return text.str().str();
}

/// Prints the words of a row, each in the width of its column.
void printRow(raw_ostream &os, ArrayRef<std::string> words,
              ArrayRef<unsigned> widths) {
  std::string line;
  raw_string_ostream text(line);
  for (auto [word, width] : zip(words, widths))
    text << left_justify(word, width) << "  ";
  os << StringRef(line).rtrim() << "\n";
}

/// Returns the error of a format's value, relative to the reference.
std::string errorOf(const APFloat &kept, const APFloat &reference) {
  if (reference.isNaN() || kept.bitwiseIsEqual(reference))
    return "exact";
  if (!kept.isFinite())
    return reference.isInfinity() && kept.isInfinity() ? "exact" : "overflows";
  bool loses;
  APFloat error = kept;
  error.convert(APFloat::IEEEquad(), APFloat::rmNearestTiesToEven, &loses);
  error.subtract(reference, APFloat::rmNearestTiesToEven);
  if (error.isZero())
    return "exact";
  if (kept.isZero())
    return "underflows to zero";
  error.divide(reference, APFloat::rmNearestTiesToEven);
  std::string text;
  raw_string_ostream(text) << format("%+.2e", toDouble(error));
  return text + (kept.isDenormal() ? ", subnormal" : "");
}

Expected<APFloat> parse(StringRef text) {
  APFloat number(APFloat::IEEEquad());
  auto status = number.convertFromString(text, APFloat::rmNearestTiesToEven);
  if (!status) {
    consumeError(status.takeError());
    return make_error<UsageError>("'" + text.str() +
                                  "' is not a number; try 0.1, 1e-8, 0x1p-14, "
                                  "inf or nan");
  }
  return number;
}

void printValue(raw_ostream &os, StringRef text, const APFloat &reference) {
  constexpr unsigned widths[] = {6, 1, 11, 52, 24, 20};
  os << text << "\n";
  printRow(os, {"format", "s", "exponent", "mantissa", "value kept", "error"},
           widths);
  for (const NumberFormat &format : kFormats) {
    APFloat kept = reference;
    bool loses;
    kept.convert(format.semantics(), APFloat::rmNearestTiesToEven, &loses);
    SmallString<64> bits;
    APInt raw = kept.bitcastToAPInt();
    raw.toStringUnsigned(bits, 2);
    std::string all(raw.getBitWidth() - bits.size(), '0');
    all += bits.str();
    printRow(os,
             {format.name, all.substr(0, 1), all.substr(1, format.exponentBits),
              all.substr(1 + format.exponentBits), digits(kept),
              errorOf(kept, reference)},
             widths);
  }
}

std::string rounded(const APFloat &number) {
  std::string text;
  raw_string_ostream(text) << format("%.6g", toDouble(number));
  return text;
}

void printRanges(raw_ostream &os) {
  constexpr unsigned widths[] = {6, 4, 14, 15, 18, 12};
  printRow(os,
           {"format", "bits", "largest", "smallest normal",
            "smallest subnormal", "epsilon"},
           widths);
  for (const NumberFormat &format : kFormats) {
    const fltSemantics &semantics = format.semantics();
    APFloat epsilon = scalbn(APFloat(semantics, 1),
                             1 - int(APFloat::semanticsPrecision(semantics)),
                             APFloat::rmNearestTiesToEven);
    printRow(os,
             {format.name,
              std::to_string(APFloat::semanticsSizeInBits(semantics)),
              rounded(APFloat::getLargest(semantics)),
              rounded(APFloat::getSmallestNormalized(semantics)),
              rounded(APFloat::getSmallest(semantics)), rounded(epsilon)},
             widths);
  }
}

} // namespace

int formatsOf(ArrayRef<const char *> arguments) {
  Command command{
      "formats", "[VALUE]...",
      "Prints what becomes of each VALUE in every format: sign, exponent and "
      "mantissa, the value\nkept and its relative error. Without a value, what "
      "the formats can hold. Negative values\nfollow '--'."};
  command.optional = 1000;
  auto values = command.parse(arguments);
  if (!values)
    return report(values.takeError());
  if (!*values)
    return 0;
  raw_ostream &os = outs();
  if ((*values)->empty())
    printRanges(os);
  for (auto [i, text] : enumerate(**values)) {
    Expected<APFloat> number = parse(text);
    if (!number)
      return report(number.takeError());
    if (i > 0)
      os << "\n";
    printValue(os, text, *number);
  }
  return 0;
}

} // namespace mp::tool
