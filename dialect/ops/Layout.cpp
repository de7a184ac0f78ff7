//===- Layout.cpp - elements moved, repeated, summed in place -------------===//
//
// Type rules, gradients and samples. Each op here is linear and is another
// one's adjoint: slice and pad, concat and slices, gather and scatter_add, a
// running sum and the one from the other end. So gradients have gradients.
//
//===----------------------------------------------------------------------===//
#include "dialect/Mp.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// What several type rules check
//===----------------------------------------------------------------------===//

static LogicalResult checkDim(std::optional<Location> location, int64_t dim,
                              RankedTensorType type) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return emitOptionalError(location, "dimension ", dim, " is outside of rank ",
                           type.getRank());
}

static LogicalResult checkEntries(std::optional<Location> location,
                                  StringRef what, ArrayRef<int64_t> entries,
                                  RankedTensorType type) {
  if (static_cast<int64_t>(entries.size()) == type.getRank())
    return success();
  return emitOptionalError(location, what, " has ", entries.size(),
                           " entries for rank ", type.getRank());
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
// slice
//===----------------------------------------------------------------------===//

/// Elements from `offset` on by `stride` among `size`; an error where they are
/// not all there.
static FailureOr<int64_t> sliceDim(std::optional<Location> location,
                                   unsigned dim, int64_t size, int64_t offset,
                                   int64_t count, int64_t stride) {
  if (stride < 1 || count < -1)
    return emitOptionalError(location, "dimension ", dim, ": ",
                             stride < 1 ? "stride " : "size ",
                             stride < 1 ? stride : count, " is no count");
  if (ShapedType::isDynamic(size)) {
    if (offset == 0 && count == -1 && stride == 1)
      return size;
    return emitOptionalError(
        location, "the batch dimension can only be taken whole: offset ",
        offset, ", size ", count, ", stride ", stride, " instead of 0, -1, 1");
  }
  if (offset < 0 || offset > size)
    return emitOptionalError(location, "dimension ", dim, ": offset ", offset,
                             " is outside of ", size);
  int64_t left = (size - offset) / stride + ((size - offset) % stride != 0);
  if (count > left)
    return emitOptionalError(location, "dimension ", dim, ": ", count,
                             " elements from ", offset, " on by ", stride,
                             " are not among ", size);
  return count == -1 ? left : count;
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto type = tensorType(adaptor.getInput());
  auto strides = adaptor.getStrides();
  if (failed(checkEntries(location, "offsets", adaptor.getOffsets(), type)) ||
      failed(checkEntries(location, "sizes", adaptor.getSizes(), type)) ||
      (strides && failed(checkEntries(location, "strides", *strides, type))))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    auto taken =
        sliceDim(location, dim, size, adaptor.getOffsets()[dim],
                 adaptor.getSizes()[dim], strides ? (*strides)[dim] : 1);
    if (failed(taken))
      return failure();
    shape.push_back(*taken);
  }
  types.push_back(type.clone(shape));
  return success();
}

/// What was not taken becomes zeros around and between.
Gradients SliceOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  SmallVector<int64_t> high, interior;
  for (auto [dim, size] : llvm::enumerate(getInput().getType().getShape())) {
    int64_t taken = getType().getDimSize(dim), offset = getOffsets()[dim];
    int64_t span = taken ? (taken - 1) * strideOf(dim) + 1 : 0;
    high.push_back(size - offset - span);
    interior.push_back(taken > 1 ? strideOf(dim) - 1 : 0);
  }
  auto between =
      getStrides() ? b.getDenseI64ArrayAttr(interior) : DenseI64ArrayAttr();
  return {PadOp::create(b, g[0], getOffsets(), high, between, APFloat(0.0))};
}

std::vector<OpSample> SliceOp::sampleInputs() {
  return {{{{"tensor<3x6xf64>"}},
           "mp.slice %0 offsets[1, 2] sizes[2, 4] : tensor<3x6xf64>"},
          {{{"tensor<2x5x4xf64>"}},
           "mp.slice %0 offsets[0, 1, 0] sizes[-1, 3, -1] : tensor<2x5x4xf64>"},
          {{{"tensor<5x6xf64>"}},
           "mp.slice %0 offsets[1, 0] sizes[2, 3] strides[3, 2] : "
           "tensor<5x6xf64>"}};
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

static FailureOr<int64_t> padDim(std::optional<Location> location, unsigned dim,
                                 int64_t size, int64_t low, int64_t high,
                                 int64_t interior) {
  int64_t least = std::min({low, high, interior});
  if (least < 0)
    return emitOptionalError(location, "dimension ", dim, ": padding ", least,
                             " is negative: use mp.slice");
  if (ShapedType::isDynamic(size)) {
    if (low == 0 && high == 0 && interior == 0)
      return size;
    return emitOptionalError(location,
                             "the batch dimension cannot be padded: low ", low,
                             ", high ", high, ", interior ", interior);
  }
  auto sum = llvm::checkedMulAdd<int64_t>(std::max<int64_t>(size - 1, 0),
                                          interior, size);
  sum = sum ? llvm::checkedAdd<int64_t>(*sum, low) : sum;
  sum = sum ? llvm::checkedAdd<int64_t>(*sum, high) : sum;
  if (sum)
    return *sum;
  return emitOptionalError(location, "dimension ", dim,
                           " is larger than a 64-bit number counts");
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto type = tensorType(adaptor.getInput());
  auto interior = adaptor.getInterior();
  if (failed(checkEntries(location, "low", adaptor.getLow(), type)) ||
      failed(checkEntries(location, "high", adaptor.getHigh(), type)) ||
      (interior && failed(checkEntries(location, "interior", *interior, type))))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    auto padded =
        padDim(location, dim, size, adaptor.getLow()[dim],
               adaptor.getHigh()[dim], interior ? (*interior)[dim] : 0);
    if (failed(padded))
      return failure();
    shape.push_back(*padded);
  }
  types.push_back(type.clone(shape));
  return success();
}

TypedAttr PadOp::getElement() {
  Builder b(getContext());
  Type element = getType().getElementType();
  double value = getValue().convertToDouble();
  if (isa<FloatType>(element))
    return b.getFloatAttr(element, value);
  return IntegerAttr::get(element, static_cast<int64_t>(value));
}

LogicalResult PadOp::verify() {
  auto integer = dyn_cast<IntegerType>(getType().getElementType());
  if (!integer)
    return success();
  APSInt number(integer.getWidth(),
                integer.isUnsigned() || integer.getWidth() == 1);
  bool exact;
  if (getValue().convertToInteger(number, APFloat::rmTowardZero, &exact) ==
          APFloat::opOK &&
      exact)
    return success();
  return emitOpError() << "pads with " << getValue().convertToDouble()
                       << ", which no " << integer << " is";
}

Gradients PadOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  SmallVector<int64_t> strides;
  for (auto [dim, size] : llvm::enumerate(getInput().getType().getShape()))
    strides.push_back(size > 1 ? interiorOf(dim) + 1 : 1);
  auto apart =
      getInterior() ? b.getDenseI64ArrayAttr(strides) : DenseI64ArrayAttr();
  return {SliceOp::create(b, g[0], getLow(), getInput().getType().getShape(),
                          apart)};
}

std::vector<OpSample> PadOp::sampleInputs() {
  return {
      {{{"tensor<3x4xf64>"}},
       "mp.pad %0 low[1, 2] high[0, 3] : tensor<3x4xf64>"},
      {{{"tensor<2x3x4xf64>"}},
       "mp.pad %0 low[0, 1, 0] high[0, 1, 0] value(0.5) : tensor<2x3x4xf64>"},
      {{{"tensor<3x2xf64>"}},
       "mp.pad %0 low[1, 0] high[0, 1] interior[1, 2] : tensor<3x2xf64>"}};
}

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(location, "has nothing to concatenate");
  auto first = tensorType(adaptor.getInputs().front());
  int64_t dim = adaptor.getDim();
  if (failed(checkDim(location, dim, first)))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    auto type = tensorType(input);
    if (type.getElementType() != first.getElementType())
      return emitOptionalError(location,
                               "element types differ: ", first.getElementType(),
                               " vs ", type.getElementType());
    SmallVector<int64_t> others(type.getShape());
    if (type.getRank() == first.getRank())
      others[dim] = first.getDimSize(dim);
    if (ArrayRef(others) != first.getShape())
      return emitOptionalError(location,
                               "shapes differ in more than dimension ", dim,
                               ": ", first, " vs ", type);
    if (first.isDynamicDim(dim) || type.isDynamicDim(dim))
      return emitOptionalError(
          location,
          "the batch dimension cannot be concatenated: its size is not known");
    auto sum = llvm::checkedAdd<int64_t>(shape[dim], type.getDimSize(dim));
    if (!sum)
      return emitOptionalError(location, "dimension ", dim,
                               " is larger than a 64-bit number counts");
    shape[dim] = *sum;
  }
  types.push_back(first.clone(shape));
  return success();
}

Gradients ConcatOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  SmallVector<int64_t> offsets(getType().getRank());
  Gradients gradients;
  for (Value input : getInputs()) {
    auto shape = tensorType(input).getShape();
    gradients.push_back(
        SliceOp::create(b, g[0], offsets, shape, DenseI64ArrayAttr()));
    offsets[getDim()] += shape[getDim()];
  }
  return gradients;
}

std::vector<OpSample> ConcatOp::sampleInputs() {
  return {{{{"tensor<2x3xf64>"}, {"tensor<2x4xf64>"}},
           "mp.concat %0, %1 dim(1) : tensor<2x3xf64>, tensor<2x4xf64>"},
          {{{"tensor<2x3xf64>"}, {"tensor<1x3xf64>"}, {"tensor<4x3xf64>"}},
           "mp.concat %0, %1, %2 dim(0) : tensor<2x3xf64>, tensor<1x3xf64>, "
           "tensor<4x3xf64>"}};
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
  auto shape = replaceDim(table.getShape(), dim, indices.getShape());
  if (failed(checkBatch(location, shape)))
    return failure();
  types.push_back(table.clone(shape));
  return success();
}

/// Rows of an operand by number; none where it is the batch that they number.
static std::optional<IndexRange> rowsOf(RankedTensorType type, int64_t dim) {
  if (type.isDynamicDim(dim))
    return std::nullopt;
  return IndexRange{0, type.getDimSize(dim), std::nullopt};
}

std::optional<IndexRange> GatherOp::getIndexRange(unsigned operand) {
  return operand == 1 ? rowsOf(getTable().getType(), getDim()) : std::nullopt;
}

Gradients GatherOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  int64_t rows = getTable().getType().getDimSize(getDim());
  return {ScatterAddOp::create(b, g[0], getIndices(), Value(), getDim(),
                               b.getI64IntegerAttr(rows)),
          Value()};
}

std::vector<OpSample> GatherOp::sampleInputs() {
  OperandSample five{"tensor<4xi32>", 0, 5}, six{"tensor<2x3xi64>", 0, 6};
  return {{{{"tensor<5x3xf64>"}, five},
           "mp.gather %0, %1 dim(0) : tensor<5x3xf64>, tensor<4xi32>"},
          {{{"tensor<2x6xf64>"}, six},
           "mp.gather %0, %1 dim(1) : tensor<2x6xf64>, tensor<2x3xi64>"},
          {{{"tensor<3x4x2xf64>"}, {"tensor<ui8>", 0, 4}},
           "mp.gather %0, %1 dim(1) : tensor<3x4x2xf64>, tensor<ui8>"}};
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
  int64_t dim = adaptor.getDim(), count = indices.getRank();
  if (dim < 0 || dim > updates.getRank() - count)
    return emitOptionalError(location, "dimension ", dim,
                             " leaves no room for the dimensions of ", indices,
                             " in ", updates);
  if (updates.getShape().slice(dim, count) != indices.getShape())
    return emitOptionalError(location, "updates ", updates,
                             " do not have the shape of the indices ", indices,
                             " from dimension ", dim, " on");
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

Gradients ScatterAddOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Gradients gradients{GatherOp::create(b, g[0], getIndices(), getDim()),
                      Value()};
  if (getBase())
    gradients.push_back(g[0]);
  return gradients;
}

std::vector<OpSample> ScatterAddOp::sampleInputs() {
  OperandSample indices{"tensor<4xi32>", 0, 5};
  return {{{{"tensor<4x3xf64>"}, indices},
           "mp.scatter_add %0, %1 dim(0) size(5) : tensor<4x3xf64>, "
           "tensor<4xi32>"},
          {{{"tensor<2x2x3xf64>"}, {"tensor<2x3xi64>", 0, 6}},
           "mp.scatter_add %0, %1 dim(1) size(6) : tensor<2x2x3xf64>, "
           "tensor<2x3xi64>"},
          {{{"tensor<4x3xf64>"}, indices, {"tensor<5x3xf64>"}},
           "mp.scatter_add %0, %1 into %2 dim(0) : tensor<4x3xf64>, "
           "tensor<4xi32>, tensor<5x3xf64>"}};
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
  // Compared in a type that holds both every index and every class.
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
