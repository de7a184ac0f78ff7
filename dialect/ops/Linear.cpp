//===- Linear.cpp - contractions ------------------------------------------===//
#include "dialect/Mp.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

static LogicalResult checkElements(std::optional<Location> location,
                                   ValueRange operands) {
  Type first = elementType(operands.front());
  for (Value operand : operands.drop_front())
    if (elementType(operand) != first)
      return emitOptionalError(location, "element types differ: ", first,
                               " vs ", elementType(operand));
  return success();
}

/// `compute` can only be tf32, of f32 operands.
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

LogicalResult LinearOp::verify() { return checkCompute(*this, getCompute()); }
LogicalResult MatmulOp::verify() { return checkCompute(*this, getCompute()); }

LogicalResult LinearOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput()),
       weight = tensorType(adaptor.getWeight());
  if (failed(checkElements(location, adaptor.getOperands())))
    return failure();
  if (input.getRank() < 1)
    return emitOptionalError(location,
                             "input has no dimension to contract: ", input);
  if (weight.getRank() != 2)
    return emitOptionalError(location, "weight is not a matrix: ", weight);
  if (input.getShape().back() != weight.getDimSize(1))
    return emitOptionalError(
        location, "contracting dimensions differ: ", input.getShape().back(),
        " vs ", weight.getDimSize(1));
  if (Value bias = adaptor.getBias()) {
    auto type = tensorType(bias);
    if (type.getRank() != 1 || type.getDimSize(0) != weight.getDimSize(0))
      return emitOptionalError(location, "bias ", type,
                               " does not have the weight's ",
                               weight.getDimSize(0), " rows");
  }
  SmallVector<int64_t> shape(input.getShape().drop_back());
  shape.push_back(weight.getDimSize(0));
  types.push_back(input.clone(shape));
  return success();
}

/// All dimensions but the last as one.
static Value asMatrix(ImplicitLocOpBuilder &b, Value value) {
  auto type = tensorType(value);
  if (type.getRank() == 2)
    return value;
  int64_t rows = llvm::product_of(type.getShape().drop_back());
  return ReshapeOp::create(b, type.clone({rows, type.getShape().back()}),
                           value);
}

SmallVector<Value> LinearOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  Value rows = asMatrix(b, g[0]);
  Value input =
      MatmulOp::create(b, rows, getWeight(), false, false, getComputeAttr());
  if (input.getType() != getInput().getType())
    input = ReshapeOp::create(b, getInput().getType().clone(elementType(input)),
                              input);
  Value weight =
      MatmulOp::create(b, rows, asMatrix(b, getInput()),
                       /*transpose_a=*/true, false, getComputeAttr());
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
  if (failed(checkElements(location, adaptor.getOperands())))
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
    return emitOptionalError(location, "contracting dimensions differ: ", k,
                             " vs ", k2);
  auto batchL = lhs.getShape().drop_back(2),
       batchR = rhs.getShape().drop_back(2);
  if (!batchL.empty() && !batchR.empty() && batchL != batchR)
    return emitOptionalError(location, "batch dimensions differ: ", lhs, " vs ",
                             rhs);
  SmallVector<int64_t> shape(batchL.empty() ? batchR : batchL);
  shape.append({m, n});
  types.push_back(lhs.clone(shape));
  return success();
}

SmallVector<Value> MatmulOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  // C = A B: dA = G B^T and dB = A^T G, each transposed where its operand is.
  // An operand without batch dimensions is broadcast: the walker sums over
  // them.
  bool ta = getTransposeA(), tb = getTransposeB();
  TypeAttr compute = getComputeAttr();
  Value lhs = ta ? MatmulOp::create(b, getRhs(), g[0], tb, true, compute)
                 : MatmulOp::create(b, g[0], getRhs(), false, !tb, compute);
  Value rhs = tb ? MatmulOp::create(b, g[0], getLhs(), true, ta, compute)
                 : MatmulOp::create(b, getLhs(), g[0], !ta, false, compute);
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
