//===- Mp.h - the mp dialect ----------------------------------------------===//
//
// Attributes and interfaces of the dialect, and common functions of its ops.
// The ops of each family have a header that the build writes:
// "dialect/ops/Linear.h" from dialect/ops/Linear.td.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_MP_H
#define MP_DIALECT_MP_H

#include "dialect/BatchMultiple.h"
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
#include "mlir/IR/TensorEncoding.h"
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
/// On an argument or result: its public name, a string.
inline constexpr llvm::StringLiteral kNameAttr = "mp.name";
/// On a result: the symbol of the parameter whose gradient it is.
inline constexpr llvm::StringLiteral kGradientAttr = "mp.gradient";
/// On a result of a step, i32 [rows]: the symbol of the parameter whose
/// gradient is the rows at these indices, by mp-sparse-gradients. What is no
/// row is -1, or the number of rows.
inline constexpr llvm::StringLiteral kGradientRowsAttr = "mp.gradient_rows";
/// On a result that is the gradient of a value: the op that made the value and
/// its location, as a named location.
inline constexpr llvm::StringLiteral kOriginAttr = "mp.origin";
/// On a function: descriptions of the records among its results, set by
/// mp-instrument.
inline constexpr llvm::StringLiteral kRecordsAttr = "mp.records";
/// On a function: "train" or "eval", set by mp-set-mode.
inline constexpr llvm::StringLiteral kModeAttr = "mp.mode";
/// On a function: "accumulate" or "apply", set by mp-accumulate.
inline constexpr llvm::StringLiteral kPhaseAttr = "mp.phase";

/// On a step: the number of ranks that take it together, set by
/// mp-data-parallel.
inline constexpr llvm::StringLiteral kRanksAttr = "mp.ranks";
/// On a function that takes micro-batches: how many a rank has of a step, set
/// by mp-accumulate if there are several ranks.
inline constexpr llvm::StringLiteral kShareAttr = "mp.share";

/// On an op: "f32" or "low", which overrides the policy. mp-autocast removes
/// it.
inline constexpr llvm::StringLiteral kAutocastAttr = "mp.autocast";
/// On a contraction: the `#mp.storage` of its operands, put there by
/// mp-autocast.
inline constexpr llvm::StringLiteral kStorageAttr = "mp.storage";

/// On a kernel: it computes something again, or begins a part of a loss, and
/// runs after the kernels that stand before it, set by mp-fuse.
inline constexpr llvm::StringLiteral kLateAttr = "mp.late";

/// On an op: its number in its function, set by mp-number-ops. Equal numbers
/// identify the same op in two variants of a function.
inline constexpr llvm::StringLiteral kNumberAttr = "mp.number";

/// A double as a parameter of an attribute; compared and hashed by its bits.
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
/// text over %0, %1, ..., and for each operand its type and the range of its
/// values. Values closer to zero than `gap` are not drawn. A `flat` operand has
/// a zero derivative. A test may replace f64 by another float type; F64 stands
/// for the compute type.
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

/// State that an optimizer keeps for a parameter, in f32 and of its shape.
struct SlotSpec {
  std::string name;
  double initial = 0;
};

/// Whether kernels are made of the op: it is of the dialect, or has one of its
/// interfaces for that, as an op of a plugin's dialect does.
bool isGraphOp(mlir::Operation *op);

/// The type in which an op on elements of this type computes: f32 for floats of
/// at most 32 bits, f64 for f64, and the signless type for integers.
mlir::Type computeType(mlir::Type element);

/// The broadcast shape by NumPy's rule; nothing if two dimensions disagree. A
/// dynamic dimension (the batch) matches only another one, or size one.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

/// Type rule of elementwise ops: equal element types, broadcast shapes. The
/// error names the sizes that disagree.
llvm::FailureOr<mlir::RankedTensorType>
inferElementwise(std::optional<mlir::Location> location,
                 mlir::ValueRange operands);

/// Runs an op's type rule again and sets the types of its results.
llvm::LogicalResult inferResultsAgain(mlir::Operation *op);

/// Fails if an op has an attribute that it does not know and that belongs to no
/// dialect; the error lists the known ones.
llvm::LogicalResult verifyAttributeNames(mlir::Operation *op);

/// The trait of all ops of the dialect that runs `verifyAttributeNames`.
template <typename Op>
struct KnownAttributes : mlir::OpTrait::TraitBase<Op, KnownAttributes> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyAttributeNames(op);
  }
};

/// Fails if a tensor type has more elements or dimensions than
/// program/Limits.h allows: products of its sizes could overflow. A dimension
/// '?' counts as one.
llvm::LogicalResult verifySize(mlir::Operation *op, mlir::Type type);

/// The trait of all ops of the dialect that checks the sizes of their operands
/// and results.
template <typename Op>
struct LimitedSizes : mlir::OpTrait::TraitBase<Op, LimitedSizes> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    for (mlir::Type type : op->getOperandTypes())
      if (failed(verifySize(op, type)))
        return llvm::failure();
    for (mlir::Type type : op->getResultTypes())
      if (failed(verifySize(op, type)))
        return llvm::failure();
    return llvm::success();
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
// Ops that other families refer to.
class AutocastOp;
class KernelOp;
class ScanOp;
class VariableOp;
class YieldOp;
// Directives of assembly formats.
mlir::ParseResult parseKindAndName(mlir::OpAsmParser &parser,
                                   StateKindAttr &kind, mlir::StringAttr &name);
void printKindAndName(mlir::OpAsmPrinter &printer, VariableOp op,
                      StateKindAttr kind, mlir::StringAttr name);
} // namespace mp

namespace mp {
/// A splat constant; a float `value` is rounded to its type.
mlir::Value splat(mlir::ImplicitLocOpBuilder &builder,
                  mlir::RankedTensorType type, double value);
/// A cast to another element type, or the value itself if it has that type.
mlir::Value castTo(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
                   mlir::Type element);
/// A type as the IR spells it.
std::string typeName(mlir::Type type);
/// The element type of a tensor value.
mlir::Type elementType(mlir::Value tensor);
/// Whether a value is a tensor of floats; it may have any type.
bool isFloatTensor(mlir::Value value);
/// The ranked type of a tensor value.
mlir::RankedTensorType tensorType(mlir::Value tensor);

/// The value of every element if `value` is a splat constant float or integer.
std::optional<double> splatValue(mlir::Attribute value);

/// The module's variable of that name, or null.
VariableOp lookupVariable(mlir::Operation *from, mlir::FlatSymbolRefAttr name);
} // namespace mp

#endif // MP_DIALECT_MP_H
