//===- Layout.cpp - slices, padding, concatenation ------------------------===//
//
// Type rules, gradients and samples. Each op of the family is linear and is the
// adjoint of another: slice and pad, concat and slices, gather and scatter_add,
// a running sum and the reverse one. So gradients have gradients. Rows and sums
// are in LayoutRows.cpp, folds in LayoutFolds.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Layout.h"
#include "dialect/Slices.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Checks that slice and pad share
//===----------------------------------------------------------------------===//

static LogicalResult checkEntries(std::optional<Location> location,
                                  StringRef what, ArrayRef<int64_t> entries,
                                  RankedTensorType type) {
  if (static_cast<int64_t>(entries.size()) == type.getRank())
    return success();
  return emitOptionalError(location, what, " has ", entries.size(),
                           " entries for rank ", type.getRank());
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

/// The number of elements from `offset` on by `stride` among `size`; an error
/// if they do not all exist.
static FailureOr<int64_t> sliceDim(std::optional<Location> location,
                                   unsigned dim, int64_t size, int64_t offset,
                                   int64_t count, int64_t stride) {
  if (stride < 1 || count < -1)
    return emitOptionalError(location, "dimension ", dim, ": ",
                             stride < 1 ? "stride " : "size ",
                             stride < 1 ? stride : count, " is not a count");
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

/// Elements that were not taken become zeros around and between the others.
std::optional<int64_t> SliceOp::followRows(unsigned, int64_t dim) {
  bool isWhole =
      getOffsets()[dim] == 0 && strideOf(dim) == 1 &&
      getType().getDimSize(dim) == getInput().getType().getDimSize(dim);
  return isWhole ? std::optional(dim) : std::nullopt;
}

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
  if (dim < 0 || dim >= first.getRank())
    return emitOptionalError(location, "dimension ", dim,
                             " is outside of rank ", first.getRank());
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

std::optional<int64_t> ConcatOp::followRows(unsigned, int64_t dim) {
  return dim == static_cast<int64_t>(getDim()) ? std::nullopt
                                               : std::optional(dim);
}

Gradients ConcatOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Gradients gradients;
  int64_t begin = 0;
  for (Value input : getInputs()) {
    int64_t size = tensorType(input).getDimSize(getDim());
    gradients.push_back(sliceAlong(b, g[0], getDim(), begin, size));
    begin += size;
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
