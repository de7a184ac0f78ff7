//===- Attributes.cpp - initialisers, storage and columns -----------------===//
#include "dialect/Fields.h"
#include "program/Program.h"
#include "support/Permutation.h"
#include <cmath>

using namespace mlir;
using namespace mp;

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
    fields.push_back({name, 0});
  while (succeeded(parser.parseOptionalComma()))
    if (parseField(parser, fields))
      return {};
  if (parser.parseGreater())
    return {};
  Builder builder(parser.getContext());
  SmallVector<NamedAttribute> arguments;
  for (const Field &field : fields)
    if (field.isGiven)
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
    bool isConstant = formula == InitFormula::constant;
    if (!value || value.getValue().isNaN() ||
        (value.getValue().isInfinity() && !isConstant))
      return emitError() << argument.getName() << " is " << argument.getValue()
                         << ", expected a "
                         << (isConstant ? "number" : "finite number");
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
// Storage
//===----------------------------------------------------------------------===//

LogicalResult StorageAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  FloatType forward, FloatType backward,
                                  int64_t history, int64_t margin) {
  for (FloatType type : {forward, backward})
    if (!isa<Float8E4M3FNType, Float8E5M2Type>(type))
      return emitError() << "storage in " << type
                         << ", expected f8E4M3FN or f8E5M2";
  if (history < 1 || history > 65536)
    return emitError() << "amax_history is " << history
                       << ", expected 1 to 65536 steps";
  if (margin < -64 || margin > 64)
    return emitError() << "margin is " << margin << ", expected -64 to 64";
  return success();
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Columns of a type that data files do not hold are refused with their op.
static ElementType programType(Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return parseElementType(name).value_or(ElementType::F32);
}

LogicalResult ColumnAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr, DataFormat format, Type element,
                                 StringAttr key, ArrayRef<int64_t> dims,
                                 ArrayRef<int64_t> shape, RecordAttr record,
                                 WindowAttr window) {
  if (!element.isIntOrFloat())
    return emitError() << "elements are " << element
                       << ", expected integers or floats";
  if (format == DataFormat::safetensors && !key)
    return emitError() << "a safetensors file holds several tensors: name one, "
                          "key = \"...\"";
  if (format != DataFormat::safetensors && key)
    return emitError() << "a file in format " << stringifyDataFormat(format)
                       << " holds one array and has no key";
  if (std::string why = whyNotPermutation(dims, dims.size()); !why.empty())
    return emitError() << "dims_in_files is not a permutation: "
                       << dimsText(dims) << ' ' << why;
  if (!dims.empty() && dims.front() != 0)
    return emitError() << "dims_in_files is " << dimsText(dims)
                       << ", but the samples, dimension 0, stay first";
  DataColumn column;
  column.format = stringifyDataFormat(format).str();
  column.element = programType(element);
  column.shape = shape.vec();
  column.recordBytes = record ? record.getBytes() : 0;
  column.recordOffset = record ? record.getOffset() : 0;
  if (window)
    column.window = {window.getTokens(), window.getStride(), window.getOffset(),
                     window.getStreams()};
  if (std::string mistake = columnMistake(column); !mistake.empty())
    return emitError() << "the column " << mistake;
  return success();
}
