//===- NanCheckReport.cpp - non-finite origins as text and JSON -----------===//
#include "runtime/numerics/NanCheck.h"
#include "support/Error.h"
#include "support/Json.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace mp {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printNumber(raw_ostream &os, double number) {
  os << format("%.6g", number);
}

std::string ValueRange::str() const {
  std::string text;
  raw_string_ostream os(text);
  uint64_t elements = type.elements();
  bool hasRange = least && largest;
  if (nonFinite && *nonFinite == elements)
    os << (elements == 1 ? "not finite" : "none finite");
  else if (nonFinite && *nonFinite > 0)
    os << *nonFinite << " of " << elements << " not finite"
       << (hasRange ? ", the others in " : "");
  else if (!isFinite)
    os << (hasNan.value_or(false) ? "NaN among them" : "infinite");
  else if (hasRange)
    os << "in ";
  if (hasRange) {
    os << "[";
    printNumber(os, *least);
    os << ", ";
    printNumber(os, *largest);
    os << "]";
  } else if (magnitude) {
    os << "at most ";
    printNumber(os, *magnitude);
  }
  return text;
}

/// "mp.exp at net.mlir:7:8 (backward)"
static std::string placeOf(const ValueRange &value) {
  bool marked = value.phase == "backward" || value.phase == "update";
  std::string source = value.source.str();
  return value.name + (source.empty() ? "" : " at " + source) +
         (marked ? " (" + value.phase + ")" : "");
}

std::string NonFiniteOrigin::str() const {
  std::string text =
      placeOf(value) + ": " + value.type.str() + ", " + value.str();
  for (auto [i, operand] : enumerate(operands))
    text += formatv("{0}{1} {2}", i ? ", " : "; of ", placeOf(operand),
                    operand.str());
  if (sample)
    text += formatv("; first in sample {0} of the data", *sample);
  return text + (samplesText.empty() ? ""
                                     : "; step " + std::to_string(step) +
                                           " has " + samplesText);
}

std::string toText(ArrayRef<ValueRange> values) {
  std::string text;
  raw_string_ostream os(text);
  os << "not finite          least        largest  value\n";
  for (const ValueRange &value : values) {
    os << format("%10llu  ", static_cast<unsigned long long>(
                                 value.nonFinite.value_or(!value.isFinite)));
    for (std::optional<double> number : {value.least, value.largest})
      if (number)
        os << format("%13.6g  ", *number);
      else
        os << left_justify("", 15);
    os << placeOf(value) << ", " << value.type.str() << "\n";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Names come from the user's file, which need not be UTF-8.
static void writeText(json::OStream &json, StringRef key, StringRef value) {
  json.attribute(key, validUtf8(value));
}

static void writeRange(json::OStream &json, const ValueRange &value) {
  writeText(json, "name", value.name);
  writeText(json, "source", value.source.str());
  writeText(json, "where", value.phase);
  writeText(json, "type", value.type.str());
  json.attribute("elements", value.type.elements());
  json.attribute("finite", value.isFinite);
  auto write = [&](StringRef key, auto number) {
    if (number)
      json.attribute(key, *number);
  };
  write("nan", value.hasNan);
  write("nonfinite", value.nonFinite);
  write("least", value.least);
  write("largest", value.largest);
  write("magnitude", value.magnitude);
  write("row", value.row);
}

std::string toJson(const NonFiniteOrigin &origin) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  json.object([&] {
    json.attribute("step", origin.step);
    writeText(json, "where", origin.value.phase);
    writeText(json, "op", origin.value.name);
    writeText(json, "source", origin.value.source.str());
    writeText(json, "text", origin.str());
    json.attributeObject("result", [&] { writeRange(json, origin.value); });
    json.attributeArray("operands", [&] {
      for (const ValueRange &operand : origin.operands)
        json.object([&] { writeRange(json, operand); });
    });
    writeText(json, "samples", origin.samplesText);
    json.attributeArray("records", [&] {
      for (int64_t sample : origin.samples)
        json.value(sample);
    });
    if (origin.sample)
      json.attribute("sample", *origin.sample);
  });
  return text;
}

std::string toJson(int64_t step, ArrayRef<ValueRange> values) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("step", step);
    json.attributeArray("values", [&] {
      for (const ValueRange &value : values)
        json.object([&] { writeRange(json, value); });
    });
  });
  os << "\n";
  return text;
}

} // namespace mp
