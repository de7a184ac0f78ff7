//===- Shapes.cpp - casts, shapes, whole reductions and constants ---------===//
#include "dialect/ops/Constant.h"
#include "dsl/GraphState.h"
#include <numeric>

using namespace mlir;

namespace mantissa {

Tensor cast(const Operand &input, ElementType element) {
  if (!input.tensor)
    return input.tensor;
  if (input.tensor.element() == element)
    return input.tensor;
  return cast(input, ResultType{element, input.tensor.shape()});
}

/// The product of the sizes that are known; nothing if 64 bits do not hold it.
static std::optional<int64_t> productOf(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    if (size >= 0 && llvm::MulOverflow(product, size, product))
      return std::nullopt;
  return product;
}

/// Whether `from` elements, or rows of so many whose number is not known, can
/// have `to` in their place.
static bool canBeRows(bool hasBatch, int64_t from, int64_t to) {
  return from == to ||
         (hasBatch && from && to && (from % to == 0 || to % from == 0));
}

Tensor reshape(const Operand &input, const Dims &shape) {
  const Tensor &tensor = input.tensor;
  if (!tensor)
    return tensor;
  Dims sizes = shape;
  auto rest = productOf(shape), all = productOf(tensor.shape());
  bool hasBatch = llvm::is_contained(tensor.shape(), Batch);
  if (llvm::count(shape, -1) == 1 && all && rest) {
    // A leading -1 in place of the batch dimension is the rows that it makes.
    if (sizes.front() == -1 && hasBatch && !llvm::is_contained(shape, Batch))
      sizes.front() = Batch;
    else if (*rest && *all % *rest == 0)
      *llvm::find(sizes, -1) = *all / *rest;
  }
  bool keepsBatch = llvm::count(sizes, Batch) == hasBatch;
  auto made = productOf(sizes);
  bool isKnown = llvm::all_of(
      sizes, [](int64_t size) { return size >= 0 || size == Batch; });
  if (!isKnown || !keepsBatch || !all || !made ||
      !canBeRows(hasBatch, *all, *made))
    return Graph::of(tensor).mistake("a tensor of " + tensor.type() +
                                         " cannot be reshaped to " +
                                         typeText(tensor.element(), shape),
                                     input.place);
  return reshape(input, ResultType{tensor.element(), sizes});
}

Tensor flatten(const Operand &input, int64_t start, int64_t end) {
  const Tensor &tensor = input.tensor;
  if (!tensor)
    return tensor;
  const Dims sizes = tensor.shape();
  int64_t rank = sizes.size(), last = end < 0 ? end + rank : end;
  if (start < 0 || start > last || last >= rank)
    return Graph::of(tensor).mistake(
        "dimensions " + std::to_string(start) + " to " + std::to_string(end) +
            " are not all in a tensor of " + tensor.type(),
        input.place);
  Dims joined(sizes.begin(), sizes.begin() + start);
  auto product = productOf(ArrayRef(sizes).slice(start, last + 1 - start));
  if (!product)
    return Graph::of(tensor).mistake(
        "a tensor of " + tensor.type() +
            " has more elements than a 64-bit number counts",
        input.place);
  joined.push_back(sizes[start] == Batch ? Batch : *product);
  joined.insert(joined.end(), sizes.begin() + last + 1, sizes.end());
  return reshape(input, ResultType{tensor.element(), joined});
}

Tensor broadcast(const Operand &input, const Dims &shape) {
  if (!input.tensor)
    return input.tensor;
  return broadcast(input, ResultType{input.tensor.element(), shape});
}

static Dims allDimensions(const Operand &input) {
  Dims dims(input.tensor.rank());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Tensor sum(const Operand &input) { return sum(input, allDimensions(input)); }
Tensor mean(const Operand &input) { return mean(input, allDimensions(input)); }
Tensor max(const Operand &input) { return max(input, allDimensions(input)); }
Tensor min(const Operand &input) { return min(input, allDimensions(input)); }

Tensor constant(const Context &context, double value, ElementType element) {
  GraphState &state = context.graph.internals();
  if (!state.acceptType("a constant", element, {}, context.place))
    return state.none();
  return state.constant(value, state.elementType(element), context.place);
}

Tensor constant(const Context &context, const std::vector<double> &values,
                const Dims &shape, ElementType element) {
  GraphState &state = context.graph.internals();
  if (!state.acceptType("a constant", element, shape, context.place))
    return state.none();
  auto type = state.tensorType(element, shape);
  if (!type.hasStaticShape() ||
      productOf(shape) != static_cast<int64_t>(values.size()))
    return state.mistake("a constant of " + typeText(element, shape) + " has " +
                             Twine(values.size()) + " values",
                         context.place);
  SmallVector<Attribute> elements;
  for (double value : values) {
    Type elementType = type.getElementType();
    if (!state.holds(elementType, value, context.place))
      return state.none();
    elements.push_back(
        isa<FloatType>(elementType)
            ? Attribute(FloatAttr::get(elementType, value))
            : Attribute(IntegerAttr::get(elementType, int64_t(value))));
  }
  return state.wrap(
      mp::ConstantOp::create(state.builder, state.locate(context.place), type,
                             DenseElementsAttr::get(type, elements)));
}

} // namespace mantissa
