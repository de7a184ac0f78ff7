//===- Mp.h - the mp dialect ----------------------------------------------===//
//
// Attributes and interfaces of the dialect, and the few functions that give its
// ops one meaning everywhere. The ops are in a header for each family, which
// the build writes: "dialect/ops/Linear.h" is what dialect/ops/Linear.td says.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_MP_H
#define MP_DIALECT_MP_H

#include "dialect/LossScalerPresets.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <optional>
#include <string>
#include <vector>

namespace mp {

/// Names of the attributes that passes and users put on functions.
/// On an argument or result: its name outside, a string.
inline constexpr llvm::StringLiteral kNameAttr = "mp.name";
/// On a result: the symbol of the parameter whose gradient it is.
inline constexpr llvm::StringLiteral kGradientAttr = "mp.gradient";
/// On a result that is the gradient of a value: what made that, and where, a
/// named location.
inline constexpr llvm::StringLiteral kOriginAttr = "mp.origin";
/// On a function: what each record among its results is of, set by
/// mp-instrument.
inline constexpr llvm::StringLiteral kRecordsAttr = "mp.records";
/// On a function: "train" or "eval", set by mp-set-mode.
inline constexpr llvm::StringLiteral kModeAttr = "mp.mode";
/// On a function: "accumulate" or "apply", set by mp-accumulate.
inline constexpr llvm::StringLiteral kPhaseAttr = "mp.phase";

/// On an op: "f32" or "low", what autocast is to make of it whatever the policy
/// says. mp-autocast takes it off.
inline constexpr llvm::StringLiteral kAutocastAttr = "mp.autocast";
/// On a contraction: the `#mp.storage` of its operands, put there by
/// mp-autocast.
inline constexpr llvm::StringLiteral kStorageAttr = "mp.storage";

/// On an op: its number among the ops of its function, set by mp-number-ops.
/// It tells which ops of two variants of a function are the same one.
inline constexpr llvm::StringLiteral kNumberAttr = "mp.number";

/// A double as a parameter of an attribute: compared and hashed by its bits.
struct Number {
  double value = 0;
  Number(double value = 0) : value(value) {}
  operator double() const { return value; }
  bool operator==(const Number &other) const {
    return llvm::bit_cast<uint64_t>(value) ==
           llvm::bit_cast<uint64_t>(other.value);
  }
  friend llvm::hash_code hash_value(const Number &number) {
    return llvm::hash_value(llvm::bit_cast<uint64_t>(number.value));
  }
};

/// One valid call of an op, for the tests that iterate the registry: the op as
/// text over %0, %1, ..., and for each operand its type and the range its
/// values come from. Values closer to zero than `gap` are not drawn. Small
/// changes of a `flat` operand change nothing: its derivative is zero. A test
/// may put another float for f64; F64 is what such a float is computed in.
struct OperandSample {
  std::string type;
  double low = -1, high = 1, gap = 0;
  bool flat = false;
};
struct OpSample {
  std::vector<OperandSample> operands;
  std::string op;
};

/// Elements of an index operand lie in [low, high), or equal `exempt`.
struct IndexRange {
  int64_t low, high;
  std::optional<int64_t> exempt;
};

/// State that an optimizer keeps for a parameter: of the parameter's shape,
/// f32.
struct SlotSpec {
  std::string name;
  double initial = 0;
};

/// The type in which an op on elements of this type computes: f32 for floats of
/// at most 32 bits, f64 for f64, and the signless type for integers.
mlir::Type computeType(mlir::Type element);

/// The shape that NumPy's rule gives; none where two dimensions disagree. A
/// dynamic dimension equals only another one (the batch), or one of size one.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

/// Type rule of elementwise ops: equal element types, shapes broadcast. Says
/// which numbers disagree.
llvm::FailureOr<mlir::RankedTensorType>
inferElementwise(std::optional<mlir::Location> location,
                 mlir::ValueRange operands);

/// Runs an op's type rule again and gives its results what it says.
llvm::LogicalResult inferResultsAgain(mlir::Operation *op);

/// Fails where an op has an attribute that it does not know and that belongs to
/// no dialect, and lists those it knows.
llvm::LogicalResult verifyAttributeNames(mlir::Operation *op);

/// The trait of all ops of the dialect that runs `verifyAttributeNames`.
template <typename Op>
struct KnownAttributes : mlir::OpTrait::TraitBase<Op, KnownAttributes> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyAttributeNames(op);
  }
};

} // namespace mp

#include "dialect/MpEnums.h.inc"

#include "dialect/MpAttrInterfaces.h.inc"
#include "dialect/MpInterfaces.h.inc"

#include "dialect/MpDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/MpAttributes.h.inc"

namespace mp {
// Ops that those of other families name.
class AutocastOp;
class KernelOp;
class VariableOp;
class YieldOp;
// Directives of assembly formats.
mlir::ParseResult parseKindAndName(mlir::OpAsmParser &parser,
                                   StateKindAttr &kind, mlir::StringAttr &name);
void printKindAndName(mlir::OpAsmPrinter &printer, VariableOp op,
                      StateKindAttr kind, mlir::StringAttr name);
} // namespace mp

namespace mp {
/// A constant whose elements all equal `value`; a float is rounded to its type.
mlir::Value splat(mlir::ImplicitLocOpBuilder &builder,
                  mlir::RankedTensorType type, double value);
/// Cast to another element type; the value itself where it has it already.
mlir::Value castTo(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
                   mlir::Type element);
/// A type as the IR spells it.
std::string typeName(mlir::Type type);
/// The element type of a tensor value.
mlir::Type elementType(mlir::Value tensor);
/// Whether a value, of whatever type, is a tensor of floats.
bool isFloatTensor(mlir::Value value);
/// The ranked type of a tensor value.
mlir::RankedTensorType tensorType(mlir::Value tensor);

/// The value of every element, where `value` is a splat constant float or
/// integer.
std::optional<double> splatValue(mlir::Attribute value);

/// The module's variable of that name, or null.
VariableOp lookupVariable(mlir::Operation *from, mlir::FlatSymbolRefAttr name);
} // namespace mp

#endif // MP_DIALECT_MP_H
