//===- Linear.cpp - contractions ------------------------------------------===//
#include "dialect/ops/Linear.h"
#include "dialect/ContractionRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

std::optional<int64_t> LinearOp::getTermCount() {
  return staticSize(getInput().getType().getShape().back());
}
std::optional<int64_t> MatmulOp::getTermCount() {
  ArrayRef<int64_t> shape = getLhs().getType().getShape();
  return staticSize(getTransposeA() ? shape[shape.size() - 2] : shape.back());
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput()),
       weight = tensorType(adaptor.getWeight());
  if (failed(checkFactors(location, adaptor.getInput(), adaptor.getWeight(),
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
      shape, productElement(input.getElementType(), adaptor.getOutDtype())));
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

std::optional<int64_t> LinearOp::followRows(unsigned operand, int64_t dim) {
  bool isSummed = dim == getInput().getType().getRank() - 1;
  return operand == 0 && !isSummed ? std::optional(dim) : std::nullopt;
}

SmallVector<Value> LinearOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  Value rows = asMatrix(b, g[0]);
  Value input = MatmulOp::create(b, rows, likeGradient(b, getWeight(), rows),
                                 false, false, getComputeAttr(), TypeAttr());
  if (input.getType() != getInput().getType())
    input = ReshapeOp::create(b, getInput().getType().clone(elementType(input)),
                              input);
  Value weight = MatmulOp::create(
      b, rows, likeGradient(b, asMatrix(b, getInput()), rows),
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
  if (failed(checkFactors(location, adaptor.getLhs(), adaptor.getRhs())))
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
      shape, productElement(lhs.getElementType(), adaptor.getOutDtype())));
  return success();
}

std::optional<int64_t> MatmulOp::followRows(unsigned operand, int64_t dim) {
  auto type = tensorType(getOperand(operand));
  int64_t fromEnd = type.getRank() - dim, rank = getType().getRank();
  if (fromEnd > 2) // of the batch
    return rank - fromEnd;
  bool isLeft = operand == 0;
  bool swapped = isLeft ? getTransposeA() : getTransposeB();
  bool isRow = (fromEnd == 2) != swapped;
  if (isRow != isLeft) // summed over
    return std::nullopt;
  return isLeft ? rank - 2 : rank - 1;
}

SmallVector<Value> MatmulOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  // C = A B: dA = G B^T and dB = A^T G, each transposed if its operand is. An
  // operand without batch dimensions is broadcast: the walker sums over them,
  // unless the rows of all matrices are those of one.
  bool ta = getTransposeA(), tb = getTransposeB();
  TypeAttr compute = getComputeAttr();
  auto multiply = [&](Value x, Value y, bool tx, bool ty) -> Value {
    return MatmulOp::create(b, x, y, tx, ty, compute, TypeAttr());
  };
  Value a = likeGradient(b, getLhs(), g[0]),
        c = likeGradient(b, getRhs(), g[0]);
  Value lhs = ta ? multiply(c, g[0], tb, true) : multiply(g[0], c, false, !tb);
  Value rows = g[0];
  if (!ta && getRhs().getType().getRank() == 2) {
    rows = asMatrix(b, rows);
    a = asMatrix(b, a);
  }
  Value rhs = tb ? multiply(rows, a, true, ta) : multiply(a, rows, !ta, false);
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
