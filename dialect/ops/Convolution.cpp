//===- Convolution.cpp - convolutions of images ---------------------------===//
//
// The two gradients of a convolution are ops, and their gradients are again
// these three: each is linear in both of its operands.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Convolution.h"
#include "dialect/ContractionRules.h"
#include "dialect/WindowRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

namespace {
/// The types of a convolution, whichever of them an op yields.
struct Shapes {
  std::optional<Location> location;
  int64_t groups;

  LogicalResult checkGroups(int64_t in, int64_t out, int64_t perGroup) const {
    if (groups < 1)
      return emitOptionalError(location, groups,
                               " groups, expected at least 1");
    if (in % groups)
      return emitOptionalError(location, in, " input channels in ", groups,
                               " groups");
    if (out % groups)
      return emitOptionalError(location, out, " output channels in ", groups,
                               " groups");
    if (perGroup != in / groups)
      return emitOptionalError(location, "the weight has ", perGroup,
                               " channels, and the input ", in / groups,
                               groups == 1 ? "" : " in each group");
    return success();
  }

  LogicalResult checkWeight(RankedTensorType weight) const {
    if (weight.getRank() != 4 || !weight.hasStaticShape())
      return emitOptionalError(location, "weight is not [out, height, width, ",
                               "in / groups]: ", weight);
    if (llvm::is_contained(weight.getShape(), 0))
      return emitOptionalError(location, "weight has a size of 0: ", weight);
    return success();
  }

  /// Fails unless `window` maps images of `from` to images of `to`.
  LogicalResult checkPlaces(const Window &window, ArrayRef<int64_t> from,
                            ArrayRef<int64_t> to, StringRef what) const {
    auto places = placesOf(location, window, from);
    if (failed(places))
      return failure();
    if (ArrayRef<int64_t>(*places) != to)
      return emitOptionalError(location, "the window maps ", from[0], "x",
                               from[1], " to ", (*places)[0], "x", (*places)[1],
                               ", and ", what, " has ", to[0], "x", to[1]);
    return success();
  }

  LogicalResult checkBias(Value bias, int64_t channels) const {
    if (!bias)
      return success();
    auto type = tensorType(bias);
    if (type.getRank() != 1 || type.getDimSize(0) != channels)
      return emitOptionalError(location, "bias ", type, " does not have the ",
                               channels, " output channels");
    return success();
  }
};
} // namespace

/// Height and width of images or of a weight.
static ArrayRef<int64_t> middle(RankedTensorType type) {
  return type.getShape().slice(1, 2);
}

template <typename Adaptor>
static FailureOr<Window> makeWindow(std::optional<Location> location,
                                    Adaptor adaptor, ArrayRef<int64_t> sizes) {
  return mp::makeWindow(location, sizes, adaptor.getStrides(), adaptor.getLow(),
                        adaptor.getHigh(), adaptor.getDilations());
}

LogicalResult Conv2dOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto input = tensorType(adaptor.getInput()),
       weight = tensorType(adaptor.getWeight());
  Shapes shapes{location, int64_t(adaptor.getGroups().value_or(1))};
  if (failed(checkFactors(location, adaptor.getInput(), adaptor.getWeight(),
                          adaptor.getBias())) ||
      failed(checkImages(location, input)) ||
      failed(shapes.checkWeight(weight)))
    return failure();
  int64_t out = weight.getDimSize(0);
  if (failed(
          shapes.checkGroups(input.getDimSize(3), out, weight.getDimSize(3))) ||
      failed(shapes.checkBias(adaptor.getBias(), out)))
    return failure();
  auto window = ::makeWindow(location, adaptor, middle(weight));
  if (failed(window))
    return failure();
  auto places = placesOf(location, *window, middle(input));
  if (failed(places))
    return failure();
  types.push_back(RankedTensorType::get(
      {input.getDimSize(0), (*places)[0], (*places)[1], out},
      productElement(input.getElementType(), adaptor.getOutDtype())));
  return success();
}

/// The rule of what maps images of a convolution's result to images of its
/// input, of height and width `size`.
template <typename Adaptor>
static LogicalResult inferInput(std::optional<Location> location,
                                Adaptor adaptor, Value from, StringRef what,
                                RankedTensorType &result) {
  auto images = tensorType(from), weight = tensorType(adaptor.getWeight());
  int64_t groups = adaptor.getGroups().value_or(1);
  Shapes shapes{location, groups};
  if (failed(checkImages(location, images, what)) ||
      failed(shapes.checkWeight(weight)))
    return failure();
  if (images.getDimSize(3) != weight.getDimSize(0))
    return emitOptionalError(location, what, " has ", images.getDimSize(3),
                             " channels, and the weight ",
                             weight.getDimSize(0));
  int64_t channels = weight.getDimSize(3) * std::max<int64_t>(groups, 1);
  if (failed(shapes.checkGroups(channels, weight.getDimSize(0),
                                weight.getDimSize(3))))
    return failure();
  auto window = ::makeWindow(location, adaptor, middle(weight));
  if (failed(window) ||
      failed(checkPair(location, "size", adaptor.getSize(), 1)) ||
      failed(
          shapes.checkPlaces(*window, adaptor.getSize(), middle(images), what)))
    return failure();
  result = RankedTensorType::get(
      {images.getDimSize(0), adaptor.getSize()[0], adaptor.getSize()[1],
       channels},
      productElement(images.getElementType(), adaptor.getOutDtype()));
  return success();
}

LogicalResult ConvTranspose2dOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType result;
  if (failed(checkFactors(location, adaptor.getInput(), adaptor.getWeight(),
                          adaptor.getBias())) ||
      failed(
          inferInput(location, adaptor, adaptor.getInput(), "input", result)) ||
      failed(Shapes{location, 1}.checkBias(adaptor.getBias(),
                                           result.getDimSize(3))))
    return failure();
  types.push_back(result);
  return success();
}

LogicalResult Conv2dBackwardInputOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType result;
  if (failed(
          checkFactors(location, adaptor.getGradient(), adaptor.getWeight())) ||
      failed(inferInput(location, adaptor, adaptor.getGradient(), "gradient",
                        result)))
    return failure();
  types.push_back(result);
  return success();
}

LogicalResult Conv2dBackwardWeightOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto gradient = tensorType(adaptor.getGradient()),
       input = tensorType(adaptor.getInput());
  int64_t groups = adaptor.getGroups().value_or(1);
  Shapes shapes{location, groups};
  if (failed(
          checkFactors(location, adaptor.getGradient(), adaptor.getInput())) ||
      failed(checkImages(location, gradient, "gradient")) ||
      failed(checkImages(location, input)))
    return failure();
  if (gradient.getDimSize(0) != input.getDimSize(0))
    return emitOptionalError(
        location, "batches differ: ", sizeText(gradient.getDimSize(0)), " vs ",
        sizeText(input.getDimSize(0)));
  int64_t in = input.getDimSize(3), out = gradient.getDimSize(3);
  int64_t perGroup = in / std::max<int64_t>(groups, 1);
  if (failed(checkPair(location, "size", adaptor.getSize(), 1)) ||
      failed(shapes.checkGroups(in, out, perGroup)))
    return failure();
  auto window = ::makeWindow(location, adaptor, adaptor.getSize());
  if (failed(window) ||
      failed(shapes.checkPlaces(*window, middle(input), middle(gradient),
                                "gradient")))
    return failure();
  types.push_back(RankedTensorType::get(
      {out, adaptor.getSize()[0], adaptor.getSize()[1], perGroup},
      productElement(input.getElementType(), adaptor.getOutDtype())));
  return success();
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// The terms of a result's element, and at most so many of an input's
/// gradient.
static std::optional<int64_t> termsOf(Value weight, int64_t channels) {
  return llvm::product_of(middle(tensorType(weight))) * channels;
}
std::optional<int64_t> Conv2dOp::getTermCount() {
  return termsOf(getWeight(), getWeight().getType().getDimSize(3));
}
std::optional<int64_t> ConvTranspose2dOp::getTermCount() {
  return termsOf(getWeight(),
                 getWeight().getType().getDimSize(0) / getGroups().value_or(1));
}
std::optional<int64_t> Conv2dBackwardInputOp::getTermCount() {
  return termsOf(getWeight(),
                 getWeight().getType().getDimSize(0) / getGroups().value_or(1));
}
std::optional<int64_t> Conv2dBackwardWeightOp::getTermCount() {
  auto type = getGradient().getType();
  if (type.isDynamicDim(0))
    return std::nullopt;
  return llvm::product_of(type.getShape().drop_back());
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// Builds the three convolutions of one window, in the type of a gradient.
template <typename Op> struct Convolutions {
  ImplicitLocOpBuilder &b;
  Op op;

  Value forward(Value input, Value weight) {
    return Conv2dOp::create(b, input, weight, Value(), op.getStridesAttr(),
                            op.getLowAttr(), op.getHighAttr(),
                            op.getDilationsAttr(), op.getGroupsAttr(),
                            op.getComputeAttr(), TypeAttr());
  }
  Value backwardInput(Value gradient, Value weight, ArrayRef<int64_t> size) {
    return Conv2dBackwardInputOp::create(
        b, gradient, weight, b.getDenseI64ArrayAttr(size), op.getStridesAttr(),
        op.getLowAttr(), op.getHighAttr(), op.getDilationsAttr(),
        op.getGroupsAttr(), op.getComputeAttr(), TypeAttr());
  }
  Value backwardWeight(Value gradient, Value input, ArrayRef<int64_t> size) {
    return Conv2dBackwardWeightOp::create(
        b, gradient, input, b.getDenseI64ArrayAttr(size), op.getStridesAttr(),
        op.getLowAttr(), op.getHighAttr(), op.getDilationsAttr(),
        op.getGroupsAttr(), op.getComputeAttr(), TypeAttr());
  }
};
template <typename Op>
Convolutions(ImplicitLocOpBuilder &, Op) -> Convolutions<Op>;
} // namespace

SmallVector<Value> Conv2dOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  Convolutions build{b, *this};
  SmallVector<Value> gradients{
      build.backwardInput(g[0], likeGradient(b, getWeight(), g[0]),
                          middle(getInput().getType())),
      build.backwardWeight(g[0], likeGradient(b, getInput(), g[0]),
                           middle(getWeight().getType()))};
  if (getBias())
    gradients.push_back(
        SumOp::create(b, g[0], ArrayRef<int64_t>{0, 1, 2}, false));
  return gradients;
}

SmallVector<Value> ConvTranspose2dOp::buildGradients(ImplicitLocOpBuilder &b,
                                                     ValueRange g) {
  Convolutions build{b, *this};
  SmallVector<Value> gradients{
      build.forward(g[0], likeGradient(b, getWeight(), g[0])),
      build.backwardWeight(likeGradient(b, getInput(), g[0]), g[0],
                           middle(getWeight().getType()))};
  if (getBias())
    gradients.push_back(
        SumOp::create(b, g[0], ArrayRef<int64_t>{0, 1, 2}, false));
  return gradients;
}

SmallVector<Value>
Conv2dBackwardInputOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Convolutions build{b, *this};
  return {build.forward(g[0], likeGradient(b, getWeight(), g[0])),
          build.backwardWeight(likeGradient(b, getGradient(), g[0]), g[0],
                               middle(getWeight().getType()))};
}

SmallVector<Value>
Conv2dBackwardWeightOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Convolutions build{b, *this};
  return {build.forward(likeGradient(b, getInput(), g[0]), g[0]),
          build.backwardInput(likeGradient(b, getGradient(), g[0]), g[0],
                              middle(getInput().getType()))};
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// `text` with the types of its operands.
static OpSample sample(StringRef text, ArrayRef<StringRef> types) {
  OpSample sample{{}, text.str()};
  for (StringRef type : types) {
    sample.operands.push_back({("tensor<" + type + "xf64>").str()});
    sample.op += (sample.operands.size() == 1 ? " : " : ", ") +
                 sample.operands.back().type;
  }
  return sample;
}

std::vector<OpSample> Conv2dOp::sampleInputs() {
  return {sample("mp.conv2d %0, %1, %2 low[1, 1] high[1, 1]",
                 {"2x4x5x3", "2x3x3x3", "2"}),
          sample("mp.conv2d %0, %1 strides[2, 3] low[2, 0] high[1, 1] "
                 "dilations[2, 1]",
                 {"1x6x5x2", "3x3x2x2"}),
          sample("mp.conv2d %0, %1 groups(2)", {"2x3x3x4", "6x2x2x2"}),
          sample("mp.conv2d %0, %1 low[1, 0] high[1, 0] groups(3)",
                 {"1x3x3x3", "3x3x1x1"}),
          sample("mp.conv2d %0, %1 strides[2, 2]", {"2x4x4x3", "2x1x1x3"}),
          sample("mp.conv2d %0, %1", {"2x3x2x3", "4x1x1x3"})};
}
std::vector<OpSample> ConvTranspose2dOp::sampleInputs() {
  return {sample("mp.conv_transpose2d %0, %1, %2 size[6, 5] strides[2, 2] "
                 "low[1, 0] high[1, 0]",
                 {"2x3x2x2", "2x4x3x3", "3"}),
          sample("mp.conv_transpose2d %0, %1 size[5, 4] dilations[2, 1] "
                 "groups(2)",
                 {"1x3x3x4", "4x2x2x3"})};
}
std::vector<OpSample> Conv2dBackwardInputOp::sampleInputs() {
  return {sample("mp.conv2d_backward_input %0, %1 size[5, 4] strides[2, 1] "
                 "low[1, 1] high[1, 1]",
                 {"2x3x4x2", "2x3x3x3"}),
          sample("mp.conv2d_backward_input %0, %1 size[3, 3] groups(2)",
                 {"1x2x2x4", "4x2x2x1"})};
}
std::vector<OpSample> Conv2dBackwardWeightOp::sampleInputs() {
  return {sample("mp.conv2d_backward_weight %0, %1 size[3, 3] strides[2, 1] "
                 "low[1, 1] high[1, 1]",
                 {"2x3x4x2", "2x5x4x3"}),
          sample("mp.conv2d_backward_weight %0, %1 size[2, 2] groups(2)",
                 {"1x2x2x4", "1x3x3x2"})};
}

//===----------------------------------------------------------------------===//
// Operands that main loops do not support
//===----------------------------------------------------------------------===//

/// The op on other factors and without its bias, with sums that are not rounded
/// if they are of 16 bits or 8.
template <typename Op>
static Value buildSums(ImplicitLocOpBuilder &b, Op op,
                       function_ref<Value(Value)> factor) {
  SmallVector<Value> factors;
  for (Value operand : op->getOperands().take_front(2))
    factors.push_back(factor(operand));
  NamedAttrList attributes(op->getAttrs());
  if (elementType(factors[0]).getIntOrFloatBitWidth() <= 16)
    attributes.set("out_dtype", TypeAttr::get(b.getF32Type()));
  return Op::create(b, factors, attributes);
}

/// Zeros if there is no image, or the op in bf16, which holds all 8-bit floats.
template <typename Op>
static Value withoutLoop(ImplicitLocOpBuilder &b, Op op, Value bias = {}) {
  if (isEmpty(op->getOperand(0)))
    return splat(b, op.getType(), 0);
  if (!isFloat8(elementType(op->getOperand(0))))
    return {};
  Value sums =
      buildSums(b, op, [&](Value factor) { return toBF16(b, factor); });
  return bias ? Value(AddOp::create(b, sums, bias)) : sums;
}

Value Conv2dOp::buildWithoutLoop(ImplicitLocOpBuilder &b) {
  return withoutLoop(b, *this, getBias());
}
Value Conv2dBackwardInputOp::buildWithoutLoop(ImplicitLocOpBuilder &b) {
  return withoutLoop(b, *this);
}
Value Conv2dBackwardWeightOp::buildWithoutLoop(ImplicitLocOpBuilder &b) {
  return withoutLoop(b, *this);
}

/// The gradient of an input, and the bias, which is added before the rounding.
Value ConvTranspose2dOp::buildWithoutLoop(ImplicitLocOpBuilder &b) {
  Value bias = getBias();
  bool rounds = bias && elementType(bias).getIntOrFloatBitWidth() <= 16;
  auto product = Conv2dBackwardInputOp::create(
      b, getInput(), getWeight(), getSizeAttr(), getStridesAttr(), getLowAttr(),
      getHighAttr(), getDilationsAttr(), getGroupsAttr(), getComputeAttr(),
      rounds ? TypeAttr::get(b.getF32Type()) : getOutDtypeAttr());
  Value sums = product;
  if (Value other = product.buildWithoutLoop(b)) {
    product.erase();
    sums = other;
  }
  if (!bias)
    return sums;
  Value sum = AddOp::create(b, sums, castTo(b, bias, elementType(sums)));
  return castTo(b, sum, getType().getElementType());
}
