//===- ScalarPrinter.cpp - a stage's body as C++ --------------------------===//
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/ScalarOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mp::cuda;

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

std::string mp::cuda::valueType(Type type) {
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isIndex())
    return "long long";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "bool";
  case 8:
    return type.isUnsignedInteger() ? "unsigned char" : "signed char";
  case 16:
    return type.isUnsignedInteger() ? "unsigned short" : "short";
  case 32:
    return type.isUnsignedInteger() ? "unsigned" : "int";
  default:
    return type.isUnsignedInteger() ? "unsigned long long" : "long long";
  }
}

std::string mp::cuda::storageType(Type type) {
  return type.isInteger(1) ? "unsigned char" : valueType(type);
}

unsigned mp::cuda::storageBytes(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

static std::string printInteger(const APInt &value, Type type) {
  if (type.isInteger(1))
    return value.isZero() ? "false" : "true";
  bool isLong = type.isIndex() || type.getIntOrFloatBitWidth() > 32;
  // A literal is at least an int; beside narrower values a template's argument
  // would be deduced as both types.
  bool isNarrow = !type.isIndex() && type.getIntOrFloatBitWidth() < 32;
  if (isNarrow)
    return "static_cast<" + valueType(type) + ">(" +
           llvm::toString(value, 10, !type.isUnsignedInteger()) + ")";
  if (value.isMinSignedValue())
    return "static_cast<" + valueType(type) + ">(0x" +
           llvm::toString(value, 16, false, false, /*UpperCase=*/false) +
           (isLong ? "ull)" : "u)");
  std::string text = llvm::toString(value, 10, true) + (isLong ? "ll" : "");
  return value.isNegative() ? "(" + text + ")" : text;
}

std::string mp::cuda::printConstant(TypedAttr value) {
  Type type = value.getType();
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return printInteger(integer.getValue(), type);
  APFloat number = cast<FloatAttr>(value).getValue();
  SmallString<24> shown;
  number.toString(shown, /*FormatPrecision=*/6);
  std::string bits =
      "0x" + llvm::utohexstr(number.bitcastToAPInt().getZExtValue(),
                             /*LowerCase=*/true,
                             type.getIntOrFloatBitWidth() / 4);
  std::string comment = (" /* " + shown + " */").str();
  if (type.isF16() || type.isBF16())
    return valueType(type) + "{" + bits + comment + "}";
  if (type.getIntOrFloatBitWidth() == 8)
    return "static_cast<" + valueType(type) + ">(" + bits + comment + ")";
  return "fromBits(" + bits + (type.isF64() ? "ull" : "u") + comment + ")";
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace {
/// Prints each op once, when its result is first asked for.
class BodyPrinter {
public:
  BodyPrinter(SourceText &out, NameSource &names, ArrayRef<std::string> indices)
      : out(out), names(names), indices(indices) {}

  void map(Value value, StringRef name) { known[value] = name.str(); }

  LogicalResult get(Value value, std::string &name) {
    if (auto found = known.find(value); found != known.end()) {
      name = found->second;
      return success();
    }
    if (failed(print(value.getDefiningOp())))
      return failure();
    name = known.lookup(value);
    return success();
  }

private:
  LogicalResult print(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      std::string text = printConstant(constant.getValue());
      if (isa<IntegerAttr>(constant.getValue()))
        known[constant] = text;
      else
        define(constant, text);
      return success();
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      define(index, "static_cast<long long>(" + indices[index.getDim()] + ")");
      return success();
    }
    SmallVector<std::string> operands(op->getNumOperands());
    for (auto [operand, name] : llvm::zip_equal(op->getOperands(), operands))
      if (failed(get(operand, name)))
        return failure();
    if (auto product = dyn_cast<arith::MulUIExtendedOp>(op);
        product && product.getLow().getType().isInteger(32)) {
      std::string arguments = "(" + operands[0] + ", " + operands[1] + ")";
      define(product.getLow(), "wrapMultiply" + arguments);
      define(product.getHigh(), "highProduct" + arguments);
      return success();
    }
    std::string text = printScalarOp(op, operands);
    if (text.empty())
      return op->emitError() << "has no form in CUDA's kernels";
    define(op->getResult(0), text);
    return success();
  }

  void define(Value value, const std::string &text) {
    std::string name = names.fresh("v");
    out.line("const " + valueType(value.getType()) + " " + name + " = " + text +
             ";");
    known[value] = name;
  }

  SourceText &out;
  NameSource &names;
  ArrayRef<std::string> indices;
  DenseMap<Value, std::string> known;
};
} // namespace

FailureOr<SmallVector<std::string>>
ScalarPrinter::print(linalg::GenericOp stage, ArrayRef<std::string> arguments,
                     ValueRange wanted, ArrayRef<std::string> indices) {
  BodyPrinter printer(out, names, indices);
  for (auto [argument, name] :
       llvm::zip_equal(stage.getBody()->getArguments(), arguments))
    if (!name.empty())
      printer.map(argument, name);
  SmallVector<std::string> results(wanted.size());
  for (auto [value, result] : llvm::zip_equal(wanted, results))
    if (failed(printer.get(value, result)))
      return failure();
  return results;
}

FailureOr<SmallVector<std::string>>
ScalarPrinter::print(linalg::GenericOp stage, ArrayRef<std::string> arguments,
                     ArrayRef<std::string> indices) {
  return print(stage, arguments,
               stage.getBody()->getTerminator()->getOperands(), indices);
}

FailureOr<std::string> mp::cuda::printCombiner(Operation *combiner,
                                               StringRef accumulator,
                                               StringRef element) {
  std::string text =
      printScalarOp(combiner, {accumulator.str(), element.str()});
  if (text.empty())
    return combiner->emitError() << "has no form in CUDA's kernels";
  return text;
}
