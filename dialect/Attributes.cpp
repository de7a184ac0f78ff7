//===- Attributes.cpp - syntax and checks of attributes -------------------===//
//
// Optimizers, schedules and initialisers are lists of named numbers, of which
// only those are written that differ from their defaults.
//
//===----------------------------------------------------------------------===//
#include "dialect/Mp.h"
#include <cmath>
#include <utility>

using namespace mlir;
using namespace mp;

namespace {
/// One named argument with its default; where it is written, `value` is set.
struct Field {
  StringRef name;
  double value;
  bool isFlag = false;
  bool isGiven = false;
};
} // namespace

/// A number with or without a point, or true or false for a flag.
static ParseResult parseFieldValue(AsmParser &parser, Field &field) {
  if (!field.isFlag) {
    bool negative = succeeded(parser.parseOptionalMinus());
    APInt whole;
    OptionalParseResult isWhole = parser.parseOptionalInteger(whole);
    if (!isWhole.has_value() ? failed(parser.parseFloat(field.value))
                             : failed(*isWhole))
      return failure();
    if (isWhole.has_value())
      field.value = whole.roundToDouble();
    field.value = negative ? -field.value : field.value;
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("false")))
    field.value = false;
  else if (succeeded(parser.parseOptionalKeyword("true")))
    field.value = true;
  else
    return parser.emitError(parser.getCurrentLocation())
           << "expected " << field.name << " to be true or false";
  return success();
}

static ParseResult parseField(AsmParser &parser,
                              MutableArrayRef<Field> fields) {
  StringRef name;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  for (Field &field : fields)
    if (field.name == name) {
      if (std::exchange(field.isGiven, true))
        return parser.emitError(where)
               << "argument '" << name << "' is given twice";
      return failure(parser.parseEqual() || parseFieldValue(parser, field));
    }
  auto diagnostic = parser.emitError(where)
                    << "unknown argument '" << name << "', expected ";
  llvm::interleaveComma(fields, diagnostic,
                        [&](const Field &field) { diagnostic << field.name; });
  return diagnostic;
}

/// `<name = value, ...>`, all of it optional.
static ParseResult parseFields(AsmParser &parser,
                               MutableArrayRef<Field> fields) {
  if (failed(parser.parseOptionalLess()))
    return success();
  if (succeeded(parser.parseOptionalGreater()))
    return success();
  if (parser.parseCommaSeparatedList(
          [&] { return parseField(parser, fields); }))
    return failure();
  return parser.parseGreater();
}

/// A whole number without a point, as people write it.
static void printNumber(AsmPrinter &printer, double value) {
  if (value == std::trunc(value) && std::abs(value) < 1e15 &&
      !(value == 0 && std::signbit(value)))
    printer << static_cast<int64_t>(value);
  else
    printer.printFloat(APFloat(value));
}

static void printFields(AsmPrinter &printer, ArrayRef<Field> fields,
                        ArrayRef<double> defaults) {
  SmallVector<const Field *> written;
  for (auto [field, value] : llvm::zip_equal(fields, defaults))
    if (field.value != value)
      written.push_back(&field);
  if (written.empty())
    return;
  printer << '<';
  llvm::interleaveComma(written, printer, [&](const Field *field) {
    printer << field->name << " = ";
    if (field->isFlag)
      printer << (field->value ? "true" : "false");
    else
      printNumber(printer, field->value);
  });
  printer << '>';
}

/// `ok` is what an argument needs beside being finite.
static LogicalResult check(function_ref<InFlightDiagnostic()> emitError,
                           StringRef name, double value, bool ok,
                           StringRef expected) {
  if (ok && std::isfinite(value))
    return success();
  return emitError() << name << " is " << value << ", expected " << expected;
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

Attribute SgdAttr::parse(AsmParser &parser, Type) {
  Field f[] = {{"lr", 1e-3},
               {"momentum", 0},
               {"dampening", 0},
               {"weight_decay", 0},
               {"nesterov", 0, true}};
  SMLoc where = parser.getCurrentLocation();
  auto emit = [&] { return parser.emitError(where); };
  if (parseFields(parser, f))
    return {};
  return getChecked(function_ref<InFlightDiagnostic()>(emit),
                    parser.getContext(), Number(f[0].value), Number(f[1].value),
                    Number(f[2].value), Number(f[3].value), f[4].value != 0);
}
void SgdAttr::print(AsmPrinter &printer) const {
  Field f[] = {{"lr", getLr()},
               {"momentum", getMomentum()},
               {"dampening", getDampening()},
               {"weight_decay", getWeightDecay()},
               {"nesterov", double(getNesterov()), true}};
  printFields(printer, f, {1e-3, 0, 0, 0, 0});
}
LogicalResult SgdAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              Number lr, Number momentum, Number dampening,
                              Number decay, bool nesterov) {
  if (failed(check(emitError, "lr", lr, lr >= 0, "zero or more")) ||
      failed(check(emitError, "momentum", momentum, momentum >= 0,
                   "zero or more")) ||
      failed(
          check(emitError, "dampening", dampening, true, "a finite number")) ||
      failed(
          check(emitError, "weight_decay", decay, decay >= 0, "zero or more")))
    return failure();
  if (nesterov && (double(momentum) <= 0 || double(dampening) != 0))
    return emitError() << "nesterov needs a momentum and no dampening";
  return success();
}

Attribute AdamWAttr::parse(AsmParser &parser, Type) {
  Field f[] = {{"lr", 1e-3},
               {"beta1", 0.9},
               {"beta2", 0.999},
               {"eps", 1e-8},
               {"weight_decay", 1e-2}};
  SMLoc where = parser.getCurrentLocation();
  auto emit = [&] { return parser.emitError(where); };
  if (parseFields(parser, f))
    return {};
  return getChecked(function_ref<InFlightDiagnostic()>(emit),
                    parser.getContext(), Number(f[0].value), Number(f[1].value),
                    Number(f[2].value), Number(f[3].value), Number(f[4].value));
}
void AdamWAttr::print(AsmPrinter &printer) const {
  Field f[] = {{"lr", getLr()},
               {"beta1", getBeta1()},
               {"beta2", getBeta2()},
               {"eps", getEps()},
               {"weight_decay", getWeightDecay()}};
  printFields(printer, f, {1e-3, 0.9, 0.999, 1e-8, 1e-2});
}
LogicalResult AdamWAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Number lr, Number beta1, Number beta2,
                                Number eps, Number decay) {
  return success(
      succeeded(check(emitError, "lr", lr, lr >= 0, "zero or more")) &&
      succeeded(check(emitError, "beta1", beta1, beta1 >= 0 && beta1 < 1,
                      "at least 0 and less than 1")) &&
      succeeded(check(emitError, "beta2", beta2, beta2 >= 0 && beta2 < 1,
                      "at least 0 and less than 1")) &&
      succeeded(check(emitError, "eps", eps, eps >= 0, "zero or more")) &&
      succeeded(
          check(emitError, "weight_decay", decay, decay >= 0, "zero or more")));
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

Attribute LinearScheduleAttr::parse(AsmParser &parser, Type) {
  Field f[] = {{"from", 1}, {"to", 0}, {"steps", 0}};
  SMLoc where = parser.getCurrentLocation();
  auto emit = [&] { return parser.emitError(where); };
  if (parseFields(parser, f) ||
      failed(check(emit, "steps", f[2].value,
                   f[2].value == std::trunc(f[2].value) && f[2].value < 0x1p53,
                   "a whole number")))
    return {};
  return getChecked(function_ref<InFlightDiagnostic()>(emit),
                    parser.getContext(), Number(f[0].value), Number(f[1].value),
                    static_cast<int64_t>(f[2].value));
}
void LinearScheduleAttr::print(AsmPrinter &printer) const {
  Field f[] = {
      {"from", getFrom()}, {"to", getTo()}, {"steps", double(getSteps())}};
  printFields(printer, f, {1, 0, 0});
}
LogicalResult
LinearScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           Number from, Number to, int64_t steps) {
  return success(
      succeeded(check(emitError, "from", from, from >= 0, "zero or more")) &&
      succeeded(check(emitError, "to", to, to >= 0, "zero or more")) &&
      succeeded(check(emitError, "steps", steps, steps >= 0, "zero or more")));
}

//===----------------------------------------------------------------------===//
// Initialisers
//===----------------------------------------------------------------------===//

static ArrayRef<StringRef> initArguments(InitFormula formula) {
  static const StringRef value[] = {"value"}, uniform[] = {"a", "b", "fan_in"},
                         normal[] = {"mean", "std"},
                         kaiming[] = {"a", "fan_in"}, xavier[] = {"gain"};
  switch (formula) {
  case InitFormula::zeros:
  case InitFormula::ones:
  case InitFormula::seed:
    return {};
  case InitFormula::constant:
    return value;
  case InitFormula::uniform:
    return uniform;
  case InitFormula::normal:
    return normal;
  case InitFormula::kaiming_uniform:
  case InitFormula::kaiming_normal:
    return kaiming;
  case InitFormula::xavier_uniform:
  case InitFormula::xavier_normal:
    return xavier;
  }
  return {};
}

Attribute InitAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  if (parser.parseLess())
    return {};
  SMLoc where = parser.getCurrentLocation();
  auto emit = [&] { return parser.emitError(where); };
  if (parser.parseKeyword(&word))
    return {};
  auto formula = symbolizeInitFormula(word);
  if (!formula) {
    parser.emitError(where) << "unknown initialiser '" << word
                            << "', expected zeros, ones, constant, uniform, "
                               "normal, kaiming_uniform, kaiming_normal, "
                               "xavier_uniform, xavier_normal or seed";
    return {};
  }
  SmallVector<Field> fields;
  for (StringRef name : initArguments(*formula))
    fields.push_back({name, std::nan("")});
  while (succeeded(parser.parseOptionalComma()))
    if (parseField(parser, fields))
      return {};
  if (parser.parseGreater())
    return {};
  Builder builder(parser.getContext());
  SmallVector<NamedAttribute> arguments;
  for (const Field &field : fields)
    if (!std::isnan(field.value))
      arguments.push_back(builder.getNamedAttr(
          field.name, builder.getF64FloatAttr(field.value)));
  return getChecked(function_ref<InFlightDiagnostic()>(emit),
                    parser.getContext(), *formula,
                    builder.getDictionaryAttr(arguments));
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyInitFormula(getFormula());
  for (NamedAttribute argument : getArguments()) {
    printer << ", " << argument.getName().getValue() << " = ";
    printNumber(printer,
                cast<FloatAttr>(argument.getValue()).getValueAsDouble());
  }
  printer << '>';
}

LogicalResult InitAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               InitFormula formula, DictionaryAttr arguments) {
  for (NamedAttribute argument : arguments) {
    if (!llvm::is_contained(initArguments(formula),
                            argument.getName().getValue()))
      return emitError() << "initialiser " << stringifyInitFormula(formula)
                         << " has no argument " << argument.getName();
    auto value = dyn_cast<FloatAttr>(argument.getValue());
    if (!value || !value.getValue().isFinite())
      return emitError() << argument.getName() << " is " << argument.getValue()
                         << ", expected a finite number";
    if ((argument.getName() == "fan_in" && value.getValueAsDouble() < 1) ||
        (argument.getName() == "std" && value.getValueAsDouble() < 0))
      return emitError() << argument.getName() << " is "
                         << value.getValueAsDouble() << ", which is too small";
  }
  if (formula == InitFormula::constant && arguments.empty())
    return emitError() << "initialiser constant needs a value";
  auto number = [&](StringRef name, double otherwise) {
    auto given = arguments.getAs<FloatAttr>(name);
    return given ? given.getValueAsDouble() : otherwise;
  };
  if (formula == InitFormula::uniform && number("a", 0) > number("b", 1))
    return emitError() << "initialiser uniform has a = " << number("a", 0)
                       << " above b = " << number("b", 1);
  return success();
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

LogicalResult ColumnAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr, DataFormat format, Type element,
                                 StringAttr key) {
  if (!element.isIntOrFloat())
    return emitError() << "elements are " << element
                       << ", expected integers or floats";
  if (format == DataFormat::safetensors && !key)
    return emitError() << "a safetensors file holds several tensors: name one, "
                          "key = \"...\"";
  if (format != DataFormat::safetensors && key)
    return emitError() << "a file in format " << stringifyDataFormat(format)
                       << " holds one array and has no key";
  return success();
}
