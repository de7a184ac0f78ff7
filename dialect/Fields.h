//===- Fields.h - attributes that are lists of named numbers --------------===//
//
// Optimizers, schedules and initialisers are `#mp.name<argument = value, ...>`,
// where arguments with their default value are omitted. A list of fields
// describes an attribute; parser, printer and verifier follow from it.
// dialect/Fields.td writes the list for attributes whose parameters are all
// fields.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_FIELDS_H
#define MP_DIALECT_FIELDS_H

#include "dialect/Mp.h"
#include <limits>

namespace mp {

/// The values that a field may have; all are finite.
enum class Domain {
  Any,
  NotNegative,
  Positive,
  Fraction,  ///< at least 0 and less than 1
  Length,    ///< an integer number of steps, at least one
  RunLength, ///< the same, or open: the length of the run
  Flag,      ///< true or false
};

/// A named argument, with its default or required.
struct FieldSpec {
  llvm::StringLiteral name;
  double initial;
  Domain range;
};
inline constexpr double kRequired = std::numeric_limits<double>::quiet_NaN();

/// One argument while it is parsed or printed.
struct Field {
  llvm::StringRef name;
  double value;
  bool isFlag = false;
  bool isGiven = false;
};

/// An argument that is an attribute; `value` is its default, or what was given.
struct NestedField {
  llvm::StringRef name;
  mlir::Attribute &value;
};

/// Parses `name = value` for one of the fields. A pair `xs = (a, b)` sets `x1`
/// and `x2`, like PyTorch's `betas`.
mlir::ParseResult parseField(mlir::AsmParser &parser,
                             llvm::MutableArrayRef<Field> fields,
                             NestedField *nested = nullptr);

/// Parses `<name = value, ...>`, in which only required fields must be given.
/// Returns the values in order, after checking their ranges.
llvm::FailureOr<llvm::SmallVector<double>>
parseFieldValues(mlir::AsmParser &parser, llvm::ArrayRef<FieldSpec> specs,
                 NestedField *nested = nullptr);

/// `nested` is printed unless it is null.
void printFields(mlir::AsmPrinter &printer, llvm::ArrayRef<FieldSpec> specs,
                 llvm::ArrayRef<double> values, llvm::StringRef nestedName = "",
                 mlir::Attribute nested = {});

/// Fails if a value is outside its range.
llvm::LogicalResult
verifyFields(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
             llvm::ArrayRef<FieldSpec> specs, llvm::ArrayRef<double> values);

/// Prints integers without a point.
void printNumber(mlir::AsmPrinter &printer, double value);

/// Parses an attribute whose parameters are all fields: numbers, counts or
/// flags, as its `verify` takes them.
template <typename Attr, size_t N>
mlir::Attribute parseFields(mlir::AsmParser &parser,
                            const FieldSpec (&specs)[N]) {
  using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;
  llvm::SMLoc where = parser.getCurrentLocation();
  auto values = parseFieldValues(parser, specs);
  if (failed(values))
    return {};
  auto emit = [&] { return parser.emitError(where); };
  auto make = [&]<typename... Parameters>(
                  llvm::LogicalResult (*)(EmitError, Parameters...)) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return Attr::getChecked(EmitError(emit), parser.getContext(),
                              static_cast<Parameters>((*values)[I])...);
    }(std::make_index_sequence<N>());
  };
  return make(&Attr::verify);
}

} // namespace mp

#endif // MP_DIALECT_FIELDS_H
