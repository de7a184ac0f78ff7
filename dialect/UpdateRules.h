//===- UpdateRules.h - what the updates of all optimizers share -----------===//
#ifndef MP_DIALECT_UPDATERULES_H
#define MP_DIALECT_UPDATERULES_H

#include "dialect/Expression.h"
#include "dialect/Fields.h"

namespace mp {

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

inline double toDouble(const llvm::APFloat &value) {
  return value.convertToDouble();
}

/// The type rule of updates, whose operands are tensors, scalars, and more
/// tensors: these have the parameter's type, the first one's, and so have the
/// results, one a tensor but the gradient.
llvm::LogicalResult inferUpdate(std::optional<mlir::Location> location,
                                mlir::ValueRange operands, unsigned tensors,
                                unsigned scalars,
                                llvm::SmallVectorImpl<mlir::Type> &types);

/// Fails where an update, whose first result is not a slot, has other slots
/// than its optimizer keeps.
llvm::LogicalResult verifySlots(mlir::Operation *update,
                                OptimizerAttrInterface optimizer);

/// A directive of assembly formats: an attribute's fields without its name,
/// `<name = value>`, or nothing where all have their defaults.
template <typename Attr>
mlir::ParseResult parseFieldsOf(mlir::AsmParser &parser, Attr &attribute) {
  attribute = llvm::cast_or_null<Attr>(Attr::parse(parser, mlir::Type()));
  return mlir::success(bool(attribute));
}
template <typename Attr>
void printFieldsOf(mlir::AsmPrinter &printer, mlir::Operation *,
                   Attr attribute) {
  attribute.print(printer);
}

/// gradient + decay * parameter: L2 regularisation.
Expression addDecay(Expression gradient, Expression parameter, double decay);

//===----------------------------------------------------------------------===//
// Bounds: what an update can do at most
//===----------------------------------------------------------------------===//
//
// Bounds on the parameters and slots that an update leaves, from bounds on
// those it finds, without reading any: docs/decisions/0008. Every bound is
// multiplied by `kSlack`, which is more than the roundings of the update, of
// the gradient's norm and of the bound itself.

inline constexpr double kSlack = 1 + 0x1p-18;
/// What the squares of a gradient's elements may lose to underflow, as a value:
/// more than the root of f32's smallest number.
inline constexpr double kUnderflow = 0x1p-50;

inline Expression withSlack(Expression x) { return kSlack * x; }
/// `x` where the other is a number, else NaN.
Expression unlessNaN(Expression x, Expression other);
/// `x` where the other is not negative, else NaN.
Expression whereNotNegative(Expression x, Expression other);
/// An upper bound on the elements of a gradient of that norm.
Expression largestElement(Expression norm);
/// A bound, or no bound where a gradient of that norm overflows with its decay.
Expression unlessDecayOverflows(Expression bound, Expression norm,
                                Expression parameter, double decay);
/// What is kept of a parameter of which decay takes a share, as a bound.
Expression boundKept(Expression learningRate, double decay);
/// A tensor's elements without sign, in f32.
Expression magnitude(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace mp

#endif // MP_DIALECT_UPDATERULES_H
