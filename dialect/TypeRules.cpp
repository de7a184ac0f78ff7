//===- TypeRules.cpp - shapes and element types ---------------------------===//
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/State.h"

using namespace mlir;
using namespace mp;

Type mp::computeType(Type element) {
  if (element.isF64())
    return element;
  if (isa<FloatType>(element))
    return Float32Type::get(element.getContext());
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

static std::optional<int64_t> broadcastDim(int64_t lhs, int64_t rhs) {
  if (lhs == rhs || rhs == 1)
    return lhs;
  if (lhs == 1)
    return rhs;
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> mp::broadcastShapes(ArrayRef<int64_t> lhs,
                                                        ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> shape(lhs);
  size_t offset = lhs.size() - rhs.size();
  for (size_t i = 0; i < rhs.size(); ++i) {
    auto dim = broadcastDim(lhs[offset + i], rhs[i]);
    if (!dim)
      return std::nullopt;
    shape[offset + i] = *dim;
  }
  return shape;
}

FailureOr<RankedTensorType>
mp::inferElementwise(std::optional<Location> location, ValueRange operands) {
  auto result = cast<RankedTensorType>(operands.front().getType());
  for (Value operand : operands.drop_front()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getElementType() != result.getElementType())
      return emitOptionalError(
          location, "element types differ: ", result.getElementType(), " vs ",
          type.getElementType());
    auto shape = broadcastShapes(result.getShape(), type.getShape());
    if (!shape)
      return emitOptionalError(location, "shapes do not broadcast: ", result,
                               " vs ", type);
    result = result.clone(*shape);
  }
  return result;
}

LogicalResult mp::inferResultsAgain(Operation *op) {
  auto rule = dyn_cast<InferTypeOpInterface>(op);
  SmallVector<Type> types;
  if (!rule || failed(rule.inferReturnTypes(
                   op->getContext(), op->getLoc(), op->getOperands(),
                   op->getAttrDictionary(), op->getPropertiesStorage(),
                   op->getRegions(), types)))
    return failure();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    result.setType(type);
  return success();
}

Value mp::splat(ImplicitLocOpBuilder &builder, RankedTensorType type,
                double value) {
  return ConstantOp::create(builder, type, value);
}

Value mp::castTo(ImplicitLocOpBuilder &builder, Value value, Type element) {
  if (elementType(value) == element)
    return value;
  return CastOp::create(builder, tensorType(value).clone(element), value);
}

RankedTensorType mp::tensorType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}
std::string mp::typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Type mp::elementType(Value tensor) {
  return tensorType(tensor).getElementType();
}

bool mp::isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

std::optional<double> mp::splatValue(Attribute value) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(value);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType())) {
    APFloat number = elements.getSplatValue<APFloat>();
    bool lossy;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return number.convertToDouble();
  }
  if (elements.getElementType().isUnsignedInteger())
    return elements.getSplatValue<APInt>().getZExtValue();
  if (elements.getElementType().isInteger(1))
    return elements.getSplatValue<bool>() ? 1 : 0;
  return elements.getSplatValue<APInt>().getSExtValue();
}

VariableOp mp::lookupVariable(Operation *from, FlatSymbolRefAttr name) {
  return SymbolTable::lookupNearestSymbolFrom<VariableOp>(from, name);
}
