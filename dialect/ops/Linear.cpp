//===- Linear.cpp - contractions ------------------------------------------===//
#include "dialect/ops/Linear.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

/// "?" for the batch, whose size is not known yet.
static std::string sizeText(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// Both factors have one type, or are 8-bit floats; a bias has the type of the
/// result.
static LogicalResult checkElements(std::optional<Location> location, Value lhs,
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

/// The element type of a product: that of the factors, or f32 if sums are not
/// rounded.
static Type resultElement(Type factor, std::optional<Type> outDtype) {
  if (isFloat8(factor))
    return Float32Type::get(factor.getContext());
  return outDtype.value_or(factor);
}

/// `out_dtype` can only be f32, for 16-bit or 8-bit operands.
static LogicalResult checkOut(Operation *op, std::optional<Type> outDtype) {
  if (!outDtype)
    return success();
  if (!outDtype->isF32())
    return op->emitOpError()
           << "has out_dtype " << *outDtype << ", expected f32";
  Type type = elementType(op->getOperand(0));
  if (type.getIntOrFloatBitWidth() > 16)
    return op->emitOpError() << "has out_dtype f32, which is for operands of "
                                "16 bits or 8, not "
                             << type;
  return success();
}

/// `compute` can only be tf32, for f32 operands.
static LogicalResult checkCompute(Operation *op, std::optional<Type> compute) {
  if (!compute)
    return success();
  if (!compute->isTF32())
    return op->emitOpError() << "computes in " << *compute << ", expected tf32";
  if (Type type = elementType(op->getOperand(0)); !type.isF32())
    return op->emitOpError()
           << "computes in tf32, which is for f32 operands, not " << type;
  return success();
}

static std::optional<int64_t> staticSize(int64_t size) {
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}
std::optional<int64_t> LinearOp::getTermCount() {
  return staticSize(getInput().getType().getShape().back());
}
std::optional<int64_t> MatmulOp::getTermCount() {
  ArrayRef<int64_t> shape = getLhs().getType().getShape();
  return staticSize(getTransposeA() ? shape[shape.size() - 2] : shape.back());
}

LogicalResult LinearOp::verify() {
  return success(succeeded(checkCompute(*this, getCompute())) &&
                 succeeded(checkOut(*this, getOutDtype())));
}
LogicalResult MatmulOp::verify() {
  return success(succeeded(checkCompute(*this, getCompute())) &&
                 succeeded(checkOut(*this, getOutDtype())));
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput()),
       weight = tensorType(adaptor.getWeight());
  if (failed(checkElements(location, adaptor.getInput(), adaptor.getWeight(),
                           adaptor.getBias())))
    return failure();
  if (input.getRank() < 1)
    return emitOptionalError(location,
                             "input has no dimension to contract: ", input);
  if (weight.getRank() != 2)
    return emitOptionalError(location, "weight is not a matrix: ", weight);
  if (input.getShape().back() != weight.getDimSize(1))
    return emitOptionalError(location, "contracting dimensions differ: ",
                             sizeText(input.getShape().back()), " vs ",
                             sizeText(weight.getDimSize(1)));
  if (Value bias = adaptor.getBias()) {
    auto type = tensorType(bias);
    if (type.getRank() != 1 || type.getDimSize(0) != weight.getDimSize(0))
      return emitOptionalError(location, "bias ", type,
                               " does not have the weight's ",
                               weight.getDimSize(0), " rows");
  }
  SmallVector<int64_t> shape(input.getShape().drop_back());
  shape.push_back(weight.getDimSize(0));
  types.push_back(input.clone(
      shape, resultElement(input.getElementType(), adaptor.getOutDtype())));
  return success();
}

/// Merges all dimensions except the last.
static Value asMatrix(ImplicitLocOpBuilder &b, Value value) {
  auto type = tensorType(value);
  if (type.getRank() == 2)
    return value;
  int64_t rows = llvm::product_of(type.getShape().drop_back());
  return ReshapeOp::create(b, type.clone({rows, type.getShape().back()}),
                           value);
}

/// A factor in the type of the gradient, which is wider if the sums were not
/// rounded.
static Value like(ImplicitLocOpBuilder &b, Value factor, Value gradient) {
  return castTo(b, factor, elementType(gradient));
}

SmallVector<Value> LinearOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  Value rows = asMatrix(b, g[0]);
  Value input = MatmulOp::create(b, rows, like(b, getWeight(), rows), false,
                                 false, getComputeAttr(), TypeAttr());
  if (input.getType() != getInput().getType())
    input = ReshapeOp::create(b, getInput().getType().clone(elementType(input)),
                              input);
  Value weight = MatmulOp::create(
      b, rows, like(b, asMatrix(b, getInput()), rows),
      /*transpose_a=*/true, false, getComputeAttr(), TypeAttr());
  SmallVector<Value> gradients{input, weight};
  if (getBias())
    gradients.push_back(SumOp::create(b, rows, ArrayRef<int64_t>{0}, false));
  return gradients;
}

std::vector<OpSample> LinearOp::sampleInputs() {
  return {{{{"tensor<3x4xf64>"}, {"tensor<5x4xf64>"}, {"tensor<5xf64>"}},
           "mp.linear %0, %1, %2 : tensor<3x4xf64>, tensor<5x4xf64>, "
           "tensor<5xf64>"},
          {{{"tensor<2x3x4xf64>"}, {"tensor<5x4xf64>"}},
           "mp.linear %0, %1 : tensor<2x3x4xf64>, tensor<5x4xf64>"}};
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto lhs = tensorType(adaptor.getLhs()), rhs = tensorType(adaptor.getRhs());
  if (failed(checkElements(location, adaptor.getLhs(), adaptor.getRhs(), {})))
    return failure();
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return emitOptionalError(location, "operands must be matrices: ", lhs,
                             " and ", rhs);
  auto dims = [](RankedTensorType type, bool transposed) {
    int64_t rows = type.getShape()[type.getRank() - 2],
            columns = type.getShape().back();
    return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [m, k] = dims(lhs, adaptor.getTransposeA());
  auto [k2, n] = dims(rhs, adaptor.getTransposeB());
  if (k != k2)
    return emitOptionalError(location,
                             "contracting dimensions differ: ", sizeText(k),
                             " vs ", sizeText(k2));
  auto batchL = lhs.getShape().drop_back(2),
       batchR = rhs.getShape().drop_back(2);
  if (!batchL.empty() && !batchR.empty() && batchL != batchR)
    return emitOptionalError(location, "batch dimensions differ: ", lhs, " vs ",
                             rhs);
  SmallVector<int64_t> shape(batchL.empty() ? batchR : batchL);
  shape.append({m, n});
  types.push_back(lhs.clone(
      shape, resultElement(lhs.getElementType(), adaptor.getOutDtype())));
  return success();
}

SmallVector<Value> MatmulOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  // C = A B: dA = G B^T and dB = A^T G, each transposed if its operand is. An
  // operand without batch dimensions is broadcast: the walker sums over them.
  bool ta = getTransposeA(), tb = getTransposeB();
  TypeAttr compute = getComputeAttr();
  auto multiply = [&](Value x, Value y, bool tx, bool ty) -> Value {
    return MatmulOp::create(b, x, y, tx, ty, compute, TypeAttr());
  };
  Value a = like(b, getLhs(), g[0]), c = like(b, getRhs(), g[0]);
  Value lhs = ta ? multiply(c, g[0], tb, true) : multiply(g[0], c, false, !tb);
  Value rhs = tb ? multiply(g[0], a, true, ta) : multiply(a, g[0], !ta, false);
  return {lhs, rhs};
}

std::vector<OpSample> MatmulOp::sampleInputs() {
  return {
      {{{"tensor<3x4xf64>"}, {"tensor<4x5xf64>"}},
       "mp.matmul %0, %1 : tensor<3x4xf64>, tensor<4x5xf64>"},
      {{{"tensor<4x3xf64>"}, {"tensor<4x5xf64>"}},
       "mp.matmul %0, %1 transpose_a : tensor<4x3xf64>, tensor<4x5xf64>"},
      {{{"tensor<3x4xf64>"}, {"tensor<5x4xf64>"}},
       "mp.matmul %0, %1 transpose_b : tensor<3x4xf64>, tensor<5x4xf64>"},
      {{{"tensor<4x3xf64>"}, {"tensor<5x4xf64>"}},
       "mp.matmul %0, %1 transpose_a transpose_b : tensor<4x3xf64>, "
       "tensor<5x4xf64>"},
      {{{"tensor<2x3x4xf64>"}, {"tensor<2x4x5xf64>"}},
       "mp.matmul %0, %1 : tensor<2x3x4xf64>, tensor<2x4x5xf64>"},
      {{{"tensor<2x3x4xf64>"}, {"tensor<4x5xf64>"}},
       "mp.matmul %0, %1 : tensor<2x3x4xf64>, tensor<4x5xf64>"},
      {{{"tensor<3x4xf64>"}, {"tensor<2x5x4xf64>"}},
       "mp.matmul %0, %1 transpose_b : tensor<3x4xf64>, tensor<2x5x4xf64>"}};
}

//===----------------------------------------------------------------------===//
// Operands that main loops do not support
//===----------------------------------------------------------------------===//

static bool isEmpty(Value value) {
  return llvm::is_contained(tensorType(value).getShape(), 0);
}

/// bf16 holds every 8-bit float.
static Value toBF16(ImplicitLocOpBuilder &b, Value factor) {
  return castTo(b, factor, b.getBF16Type());
}

Value LinearOp::buildWithoutLoop(ImplicitLocOpBuilder &b) {
  if (isEmpty(getWeight()))
    return getBias() ? Value(BroadcastOp::create(
                           b, getType(),
                           castTo(b, getBias(), getType().getElementType())))
                     : splat(b, getType(), 0);
  if (!isFloat8(elementType(getInput())))
    return {};
  auto f32 = TypeAttr::get(b.getF32Type());
  Value product =
      LinearOp::create(b, toBF16(b, getInput()), toBF16(b, getWeight()),
                       Value(), TypeAttr(), f32);
  return getBias() ? Value(AddOp::create(b, product, getBias())) : product;
}

Value MatmulOp::buildWithoutLoop(ImplicitLocOpBuilder &b) {
  if (isEmpty(getLhs()))
    return splat(b, getType(), 0);
  if (!isFloat8(elementType(getLhs())))
    return {};
  return MatmulOp::create(b, toBF16(b, getLhs()), toBF16(b, getRhs()),
                          getTransposeA(), getTransposeB(), TypeAttr(),
                          TypeAttr::get(b.getF32Type()));
}
