//===- LayoutRows.cpp - rows by number, running sums ----------------------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Checks that several type rules share
//===----------------------------------------------------------------------===//

static LogicalResult checkDim(std::optional<Location> location, int64_t dim,
                              RankedTensorType type) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return emitOptionalError(location, "dimension ", dim, " is outside of rank ",
                           type.getRank());
}

/// Only the leading dimension may be the batch.
static LogicalResult checkBatch(std::optional<Location> location,
                                ArrayRef<int64_t> shape) {
  for (int64_t size : ArrayRef(shape).drop_front(shape.empty() ? 0 : 1))
    if (ShapedType::isDynamic(size))
      return emitOptionalError(
          location, "the batch dimension would not be the leading one");
  return success();
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

/// `shape` with dimension `dim` replaced by the dimensions `by`.
static SmallVector<int64_t> replaceDim(ArrayRef<int64_t> shape, int64_t dim,
                                       ArrayRef<int64_t> by) {
  SmallVector<int64_t> replaced(shape.take_front(dim));
  llvm::append_range(replaced, by);
  llvm::append_range(replaced, shape.drop_front(dim + 1));
  return replaced;
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto table = tensorType(adaptor.getTable()),
       indices = tensorType(adaptor.getIndices());
  int64_t dim = adaptor.getDim();
  if (failed(checkDim(location, dim, table)))
    return failure();
  int64_t shared = adaptor.getBatched() ? dim : 0;
  if (indices.getShape().take_front(shared) !=
      table.getShape().take_front(shared))
    return emitOptionalError(location, "indices ", indices,
                             " do not begin with the ", shared,
                             " leading dimensions of ", table);
  auto shape =
      replaceDim(table.getShape(), dim, indices.getShape().drop_front(shared));
  if (failed(checkBatch(location, shape)))
    return failure();
  types.push_back(table.clone(shape));
  return success();
}

/// The range of row indices of an operand; nothing if `dim` is the batch.
static std::optional<IndexRange> rowsOf(RankedTensorType type, int64_t dim) {
  if (type.isDynamicDim(dim))
    return std::nullopt;
  return IndexRange{0, type.getDimSize(dim), std::nullopt};
}

std::optional<IndexRange> GatherOp::getIndexRange(unsigned operand) {
  return operand == 1 ? rowsOf(getTable().getType(), getDim()) : std::nullopt;
}

/// The table's rows are not the indices' rows, unless they are batched.
FailureOr<BatchMultiples> GatherOp::inferMultiples(MultipleOf multipleOf) {
  if (getBatchDims() > 0) {
    auto common = commonMultiple(*this, getOperands(), multipleOf);
    if (failed(common))
      return failure();
    return BatchMultiples{*common};
  }
  return BatchMultiples{multipleOf(getDim() == 0 ? getIndices() : getTable())};
}

std::optional<int64_t> GatherOp::followRows(unsigned operand, int64_t dim) {
  int64_t replaced = getDim(), shared = getBatchDims();
  if (operand == 1)
    return replaced + dim - shared;
  if (dim == replaced)
    return std::nullopt;
  int64_t added = getIndices().getType().getRank() - shared;
  return dim < replaced ? dim : dim + added - 1;
}

Gradients GatherOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  int64_t rows = getTable().getType().getDimSize(getDim());
  return {ScatterAddOp::create(b, g[0], getIndices(), Value(), getDim(),
                               b.getI64IntegerAttr(rows), getBatched()),
          Value()};
}

std::vector<OpSample> GatherOp::sampleInputs() {
  OperandSample five{"tensor<4xi32>", 0, 5}, six{"tensor<2x3xi64>", 0, 6};
  return {
      {{{"tensor<5x3xf64>"}, five},
       "mp.gather %0, %1 dim(0) : tensor<5x3xf64>, tensor<4xi32>"},
      {{{"tensor<2x6xf64>"}, six},
       "mp.gather %0, %1 dim(1) : tensor<2x6xf64>, tensor<2x3xi64>"},
      {{{"tensor<3x4x2xf64>"}, {"tensor<ui8>", 0, 4}},
       "mp.gather %0, %1 dim(1) : tensor<3x4x2xf64>, tensor<ui8>"},
      {{{"tensor<2x6xf64>"}, six},
       "mp.gather %0, %1 dim(1) batched : tensor<2x6xf64>, tensor<2x3xi64>"},
      {{{"tensor<2x3x6x2xf64>"}, {"tensor<2x3x4xi32>", 0, 6}},
       "mp.gather %0, %1 dim(2) batched : tensor<2x3x6x2xf64>, "
       "tensor<2x3x4xi32>"}};
}

//===----------------------------------------------------------------------===//
// scatter_add
//===----------------------------------------------------------------------===//

LogicalResult ScatterAddOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto updates = tensorType(adaptor.getUpdates()),
       indices = tensorType(adaptor.getIndices());
  int64_t dim = adaptor.getDim(), first = adaptor.getBatched() ? 0 : dim;
  int64_t count = indices.getRank() - (dim - first);
  if (dim < 0 || count < 0 || dim > updates.getRank() - count)
    return emitOptionalError(location, "dimension ", dim,
                             " leaves no room for the dimensions of ", indices,
                             " in ", updates);
  if (updates.getShape().slice(first, indices.getRank()) != indices.getShape())
    return emitOptionalError(location, "updates ", updates,
                             " do not have the shape of the indices ", indices,
                             " from dimension ", first, " on");
  Value base = adaptor.getBase();
  if (bool(base) == bool(adaptor.getSize()))
    return emitOptionalError(
        location, "expected one of a base to add to and a size of zeros");
  int64_t rows = base ? 0 : *adaptor.getSize();
  if (rows < 0)
    return emitOptionalError(location, "size ", rows, " is negative");
  if (base && dim < tensorType(base).getRank())
    rows = tensorType(base).getDimSize(dim);
  SmallVector<int64_t> shape(updates.getShape().take_front(dim));
  shape.push_back(rows);
  llvm::append_range(shape, updates.getShape().drop_front(dim + count));
  RankedTensorType type = updates.clone(shape);
  if (base && base.getType() != type)
    return emitOptionalError(location, "base ", base.getType(),
                             " is not what updates ", updates,
                             " can be added to: ", type);
  if (failed(checkBatch(location, shape)))
    return failure();
  types.push_back(type);
  return success();
}

std::optional<IndexRange> ScatterAddOp::getIndexRange(unsigned operand) {
  return operand == 1 ? rowsOf(getType(), getDim()) : std::nullopt;
}

/// As in mp.gather, the rows that are added to are not those that are added.
FailureOr<BatchMultiples> ScatterAddOp::inferMultiples(MultipleOf multipleOf) {
  SmallVector<Value> added{getUpdates(), getIndices()};
  if (getBase() && getDim() > 0)
    added.push_back(getBase());
  auto common = commonMultiple(*this, added, multipleOf);
  if (failed(common))
    return failure();
  return BatchMultiples{getBase() && getDim() == 0 ? multipleOf(getBase())
                                                   : *common};
}

Gradients ScatterAddOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Gradients gradients{
      GatherOp::create(b, g[0], getIndices(), getDim(), getBatched()), Value()};
  if (getBase())
    gradients.push_back(g[0]);
  return gradients;
}

std::vector<OpSample> ScatterAddOp::sampleInputs() {
  OperandSample indices{"tensor<4xi32>", 0, 5};
  return {
      {{{"tensor<4x3xf64>"}, indices},
       "mp.scatter_add %0, %1 dim(0) size(5) : tensor<4x3xf64>, "
       "tensor<4xi32>"},
      {{{"tensor<2x2x3xf64>"}, {"tensor<2x3xi64>", 0, 6}},
       "mp.scatter_add %0, %1 dim(1) size(6) : tensor<2x2x3xf64>, "
       "tensor<2x3xi64>"},
      {{{"tensor<4x3xf64>"}, indices, {"tensor<5x3xf64>"}},
       "mp.scatter_add %0, %1 into %2 dim(0) : tensor<4x3xf64>, "
       "tensor<4xi32>, tensor<5x3xf64>"},
      {{{"tensor<2x3xf64>"}, {"tensor<2x3xi64>", 0, 6}, {"tensor<2x6xf64>"}},
       "mp.scatter_add %0, %1 into %2 dim(1) batched : tensor<2x3xf64>, "
       "tensor<2x3xi64>, tensor<2x6xf64>"},
      {{{"tensor<2x3x4xf64>"}, {"tensor<2x3xi32>", 0, 5}},
       "mp.scatter_add %0, %1 dim(1) batched size(5) : tensor<2x3x4xf64>, "
       "tensor<2x3xi32>"}};
}

//===----------------------------------------------------------------------===//
// scatter_rows
//===----------------------------------------------------------------------===//

LogicalResult ScatterRowsOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto rows = tensorType(adaptor.getRows()),
       indices = tensorType(adaptor.getIndices()),
       table = tensorType(adaptor.getTable());
  if (indices.getRank() != 1)
    return emitOptionalError(location, "indices ", indices,
                             " are not of rank 1");
  if (table.getRank() == 0 || table.isDynamicDim(0))
    return emitOptionalError(location, "table ", table,
                             " has no known number of rows");
  auto expected =
      table.clone(replaceDim(table.getShape(), 0, indices.getShape()));
  if (rows != expected)
    return emitOptionalError(location, "rows ", rows,
                             " are not what replaces those of ", table, " at ",
                             indices, ": ", expected);
  types.push_back(table);
  return success();
}

//===----------------------------------------------------------------------===//
// one_hot
//===----------------------------------------------------------------------===//

LogicalResult OneHotOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  int64_t classes = adaptor.getClasses();
  if (!llvm::isInt<32>(classes) || classes < 1)
    return emitOptionalError(location, "has ", classes,
                             " classes, expected a positive 32-bit number");
  auto indices = tensorType(adaptor.getIndices());
  SmallVector<int64_t> shape(indices.getShape());
  shape.push_back(classes);
  types.push_back(RankedTensorType::get(shape, adaptor.getElement()));
  return success();
}

std::optional<IndexRange> OneHotOp::getIndexRange(unsigned) {
  return IndexRange{0, static_cast<int64_t>(getClasses()), std::nullopt};
}

SmallVector<Value> OneHotOp::decompose(ImplicitLocOpBuilder &b,
                                       ValueRange operands) {
  // The comparison uses a type that holds both every index and every class.
  Type wide =
      elementType(operands[0]).isInteger(64) ? b.getI64Type() : b.getI32Type();
  auto column = tensorType(operands[0]).getShape();
  SmallVector<int64_t> shape(column);
  shape.push_back(1);
  Value index = ReshapeOp::create(b, RankedTensorType::get(shape, wide),
                                  castTo(b, operands[0], wide));
  Value classes = castTo(
      b, IotaOp::create(b, getType().clone(b.getI32Type()), column.size()),
      wide);
  Value hit = CompareOp::create(b, Comparison::eq, classes, index);
  Type element = getType().getElementType();
  return {
      castTo(b, hit, isa<FloatType>(element) ? computeType(element) : element)};
}

//===----------------------------------------------------------------------===//
// cumsum
//===----------------------------------------------------------------------===//

LogicalResult CumsumOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = tensorType(adaptor.getInput());
  if (failed(checkDim(location, adaptor.getDim(), type)))
    return failure();
  types.push_back(type);
  return success();
}

Gradients CumsumOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return {CumsumOp::create(b, g[0], getDim(), !getReverse())};
}

std::vector<OpSample> CumsumOp::sampleInputs() {
  return {{{{"tensor<3x5xf64>"}}, "mp.cumsum %0 dim(1) : tensor<3x5xf64>"},
          {{{"tensor<3x4x2xf64>"}},
           "mp.cumsum %0 dim(1) reverse : tensor<3x4x2xf64>"}};
}
