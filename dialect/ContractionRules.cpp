//===- ContractionRules.cpp - rules that contractions share ---------------===//
#include "dialect/ContractionRules.h"

using namespace mlir;
using namespace mp;

std::string mp::sizeText(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}
std::optional<int64_t> mp::staticSize(int64_t size) {
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}
bool mp::isEmpty(Value value) {
  return llvm::is_contained(tensorType(value).getShape(), 0);
}
bool mp::isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

LogicalResult mp::checkFactors(std::optional<Location> location, Value lhs,
                               Value rhs, Value bias) {
  auto differ = [&](Type one, Type other) {
    return emitOptionalError(location, "element types differ: ", one, " vs ",
                             other);
  };
  Type l = elementType(lhs), r = elementType(rhs);
  if (l != r && !(isFloat8(l) && isFloat8(r)))
    return differ(l, r);
  Type wanted = isFloat8(l) ? Type(Float32Type::get(l.getContext())) : l;
  if (bias && elementType(bias) != wanted)
    return differ(wanted, elementType(bias));
  return success();
}

Type mp::productElement(Type factor, std::optional<Type> outDtype) {
  if (isFloat8(factor))
    return Float32Type::get(factor.getContext());
  return outDtype.value_or(factor);
}

bool mp::isProduct(AutocastOpInterface op) {
  return op.getNumericClass() == NumericClass::contraction &&
         op->getNumResults() == 1;
}

LogicalResult mp::verifyContraction(Operation *op, std::optional<Type> compute,
                                    std::optional<Type> outDtype) {
  Type type = elementType(op->getOperand(0));
  if (compute && !compute->isTF32())
    return op->emitOpError() << "computes in " << *compute << ", expected tf32";
  if (compute && !type.isF32())
    return op->emitOpError()
           << "computes in tf32, which is for f32 operands, not " << type;
  if (outDtype && !outDtype->isF32())
    return op->emitOpError()
           << "has out_dtype " << *outDtype << ", expected f32";
  if (outDtype && type.getIntOrFloatBitWidth() > 16)
    return op->emitOpError() << "has out_dtype f32, which is for operands of "
                                "16 bits or 8, not "
                             << type;
  return success();
}

Value mp::likeGradient(ImplicitLocOpBuilder &b, Value factor, Value gradient) {
  return castTo(b, factor, elementType(gradient));
}

Value mp::toBF16(ImplicitLocOpBuilder &b, Value factor) {
  return castTo(b, factor, b.getBF16Type());
}
