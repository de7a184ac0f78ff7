//===- UpdateRules.h - rules that optimizer updates share -----------------===//
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
/// tensors. All tensors have the type of the first, the parameter. There is one
/// result of this type for each tensor except the gradient.
llvm::LogicalResult inferUpdate(std::optional<mlir::Location> location,
                                mlir::ValueRange operands, unsigned tensors,
                                unsigned scalars,
                                llvm::SmallVectorImpl<mlir::Type> &types);

/// Fails if the slots of an update, whose first result is not a slot, differ
/// from those that its optimizer keeps.
llvm::LogicalResult verifySlots(mlir::Operation *update,
                                OptimizerAttrInterface optimizer);

/// Whether an optimizer updates only the rows of a table that a step gathers:
/// see mp-sparse-gradients.
bool isSparse(OptimizerAttrInterface optimizer);

/// A directive of assembly formats: an attribute's fields without its name,
/// `<name = value>`, or nothing if all have their defaults.
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
// Bounds on the effect of updates
//===----------------------------------------------------------------------===//
//
// These functions bound the parameters and slots after an update by bounds on
// those before it, without reading any: docs/decisions/0008. Every bound is
// multiplied by `kSlack`, which exceeds the rounding errors of the update, of
// the gradient's norm and of the bound itself.

inline constexpr double kSlack = 1 + 0x1p-18;
/// A bound on the loss to underflow in the squares of a gradient's elements, as
/// a value: more than the root of f32's smallest number.
inline constexpr double kUnderflow = 0x1p-50;

inline Expression withSlack(Expression x) { return kSlack * x; }
/// `x` where `other` is not NaN, else NaN.
Expression unlessNaN(Expression x, Expression other);
/// `x` where `other` is not negative, else NaN.
Expression whereNotNegative(Expression x, Expression other);
/// An upper bound on the elements of a gradient with that norm.
Expression largestElement(Expression norm);
/// The bound, or NaN if a gradient with that norm plus its decay overflows.
Expression unlessDecayOverflows(Expression bound, Expression norm,
                                Expression parameter, double decay);
/// A bound on the share of a parameter that decay leaves.
Expression boundKept(Expression learningRate, double decay);
/// The absolute values of a tensor, in f32.
Expression magnitude(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace mp

#endif // MP_DIALECT_UPDATERULES_H
