//===- Fields.cpp - attributes that are lists of named numbers ------------===//
#include "dialect/Fields.h"
#include <cmath>
#include <utility>

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// A number with or without a point, or inf.
static ParseResult parseNumber(AsmParser &parser, double &value) {
  bool negative = succeeded(parser.parseOptionalMinus());
  if (succeeded(parser.parseOptionalKeyword("inf"))) {
    value = negative ? -INFINITY : INFINITY;
    return success();
  }
  APInt whole;
  OptionalParseResult isWhole = parser.parseOptionalInteger(whole);
  if (!isWhole.has_value() ? failed(parser.parseFloat(value))
                           : failed(*isWhole))
    return failure();
  if (isWhole.has_value())
    value = whole.roundToDouble();
  value = negative ? -value : value;
  return success();
}

static ParseResult parseValue(AsmParser &parser, Field &field) {
  if (!field.isFlag)
    return parseNumber(parser, field.value);
  if (succeeded(parser.parseOptionalKeyword("false")))
    field.value = false;
  else if (succeeded(parser.parseOptionalKeyword("true")))
    field.value = true;
  else
    return parser.emitError(parser.getCurrentLocation())
           << "expected " << field.name << " to be true or false";
  return success();
}

static ParseResult markGiven(AsmParser &parser, SMLoc where, Field &field) {
  if (std::exchange(field.isGiven, true))
    return parser.emitError(where)
           << "argument '" << field.name << "' is given twice";
  return success();
}

static Field *findField(MutableArrayRef<Field> fields, const Twine &name) {
  auto *found = llvm::find_if(
      fields, [&](const Field &field) { return field.name == name.str(); });
  return found == fields.end() ? nullptr : found;
}

ParseResult mp::parseField(AsmParser &parser, MutableArrayRef<Field> fields,
                           NestedField *nested) {
  StringRef name;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  if (Field *field = findField(fields, name))
    return failure(markGiven(parser, where, *field) || parser.parseEqual() ||
                   parseValue(parser, *field));
  if (nested && name == nested->name)
    return failure(parser.parseEqual() || parser.parseAttribute(nested->value));
  StringRef stem = name;
  if (stem.consume_back("s"))
    if (Field *first = findField(fields, stem + "1"))
      if (Field *second = findField(fields, stem + "2"))
        return failure(markGiven(parser, where, *first) ||
                       markGiven(parser, where, *second) ||
                       parser.parseEqual() || parser.parseLParen() ||
                       parseValue(parser, *first) || parser.parseComma() ||
                       parseValue(parser, *second) || parser.parseRParen());
  auto diagnostic = parser.emitError(where)
                    << "unknown argument '" << name << "', expected ";
  llvm::interleaveComma(fields, diagnostic,
                        [&](const Field &field) { diagnostic << field.name; });
  if (nested)
    diagnostic << (fields.empty() ? "" : ", ") << nested->name;
  return diagnostic;
}

static ParseResult parseList(AsmParser &parser, MutableArrayRef<Field> fields,
                             NestedField *nested) {
  if (failed(parser.parseOptionalLess()) ||
      succeeded(parser.parseOptionalGreater()))
    return success();
  if (parser.parseCommaSeparatedList(
          [&] { return parseField(parser, fields, nested); }))
    return failure();
  return parser.parseGreater();
}

FailureOr<SmallVector<double>> mp::parseFieldValues(AsmParser &parser,
                                                    ArrayRef<FieldSpec> specs,
                                                    NestedField *nested) {
  SmallVector<Field> fields;
  for (const FieldSpec &spec : specs)
    fields.push_back({spec.name, spec.initial, spec.range == Domain::Flag});
  SMLoc where = parser.getCurrentLocation();
  if (parseList(parser, fields, nested))
    return failure();
  SmallVector<double> values;
  for (auto [field, spec] : llvm::zip_equal(fields, specs)) {
    if (std::isnan(field.value) && !field.isGiven)
      return parser.emitError(where)
             << "argument '" << field.name << "' is missing";
    // The value that represents an open length cannot be given explicitly.
    FieldSpec given = spec;
    if (field.isGiven && spec.range == Domain::RunLength)
      given.range = Domain::Length;
    if (failed(verifyFields([&] { return parser.emitError(where); }, given,
                            field.value)))
      return failure();
    values.push_back(field.value);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void mp::printNumber(AsmPrinter &printer, double value) {
  if (std::isinf(value))
    printer << (value < 0 ? "-inf" : "inf");
  else if (value == std::trunc(value) && std::abs(value) < 1e15 &&
           !(value == 0 && std::signbit(value)))
    printer << static_cast<int64_t>(value);
  else
    printer.printFloat(APFloat(value));
}

void mp::printFields(AsmPrinter &printer, ArrayRef<FieldSpec> specs,
                     ArrayRef<double> values, StringRef nestedName,
                     Attribute nested) {
  bool any = false;
  auto begin = [&](StringRef name) {
    printer << (std::exchange(any, true) ? ", " : "<") << name << " = ";
  };
  for (auto [spec, value] : llvm::zip_equal(specs, values)) {
    if (value == spec.initial)
      continue;
    begin(spec.name);
    if (spec.range == Domain::Flag)
      printer << (value ? "true" : "false");
    else
      printNumber(printer, value);
  }
  if (nested) {
    begin(nestedName);
    printer << nested;
  }
  if (any)
    printer << '>';
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static bool isWhole(double value) {
  return value == std::trunc(value) && std::abs(value) < 0x1p53;
}

static bool isInside(Domain range, double value) {
  switch (range) {
  case Domain::Any:
  case Domain::Flag:
    return true;
  case Domain::NotNegative:
    return value >= 0;
  case Domain::Positive:
    return value > 0;
  case Domain::Fraction:
    return value >= 0 && value < 1;
  case Domain::Length:
    return value >= 1 && isWhole(value);
  case Domain::RunLength:
    return value >= 0 && isWhole(value);
  }
  llvm_unreachable("all ranges covered");
}

static StringRef describe(Domain range) {
  switch (range) {
  case Domain::Any:
  case Domain::Flag:
    return "a finite number";
  case Domain::NotNegative:
    return "zero or more";
  case Domain::Positive:
    return "more than zero";
  case Domain::Fraction:
    return "at least 0 and less than 1";
  case Domain::Length:
  case Domain::RunLength:
    return "a whole number of at least 1";
  }
  llvm_unreachable("all ranges covered");
}

LogicalResult mp::verifyFields(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<FieldSpec> specs,
                               ArrayRef<double> values) {
  for (auto [spec, value] : llvm::zip_equal(specs, values))
    if (!std::isfinite(value) || !isInside(spec.range, value))
      return emitError() << spec.name << " is " << value << ", expected "
                         << describe(spec.range);
  // Updates compute in f32.
  for (auto [spec, value] : llvm::zip_equal(specs, values)) {
    float rounded = static_cast<float>(value);
    if (!std::isfinite(rounded) || (value != 0 && rounded == 0))
      return emitError() << spec.name << " is " << value << ", which rounds to "
                         << rounded << " in f32";
  }
  return success();
}
