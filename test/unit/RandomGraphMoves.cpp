//===- RandomGraphMoves.cpp - moves of elements in a random graph ---------===//
#include "RandomGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp {

/// "[1, 0, 2]".
static std::string spell(ArrayRef<int64_t> numbers) {
  return "[" +
         join(map_range(numbers, [](int64_t n) { return std::to_string(n); }),
              ", ") +
         "]";
}

Expected<bool> RandomGraph::growBox() {
  auto operand =
      pick([](const GraphValue &v) { return !v.type.shape.empty(); });
  if (!operand)
    return false;
  const GraphValue &value = values[*operand];
  TensorType type = value.type;
  unsigned kind = below(3), dim = below(type.shape.size());
  if (kind == 0) { // slice
    std::vector<int64_t> offsets, strides;
    for (int64_t &size : type.shape) {
      strides.push_back(chance(30) ? 1 + below(3) : 1);
      offsets.push_back(chance(50) ? below(size) : 0);
      size = 1 + below((size - offsets.back() - 1) / strides.back() + 1);
    }
    return grown(add({"mp.slice",
                      " offsets" + spell(offsets) + " sizes" +
                          spell(type.shape) + " strides" + spell(strides),
                      tensor(value.type),
                      {*operand}},
                     type, value.slack));
  }
  if (kind == 1) { // pad
    std::vector<int64_t> low, high, interior;
    for (int64_t &size : type.shape) {
      for (auto *padding : {&low, &high, &interior})
        padding->push_back(chance(40) ? below(4) : 0);
      size += low.back() + high.back() + (size - 1) * interior.back();
    }
    if (type.elements() > 3000)
      return false;
    return grown(add({"mp.pad",
                      " low" + spell(low) + " high" + spell(high) +
                          " interior" + spell(interior) + " value(1.0)",
                      tensor(value.type),
                      {*operand}},
                     type, value.slack));
  }
  GraphOp op{"mp.concat", " dim(" + std::to_string(dim) + ")", "", {}};
  double slack = 0;
  type.shape[dim] = 0;
  for (unsigned inputs = 1 + below(4); inputs > 0; --inputs) {
    unsigned next = *pick([&](const GraphValue &v) {
      std::vector<int64_t> shape = v.type.shape;
      if (shape.size() == type.shape.size())
        shape[dim] = type.shape[dim];
      return v.type.element == type.element && shape == type.shape;
    });
    const TensorType &piece = values[next].type;
    op.tail += (op.operands.empty() ? "" : ", ") + tensor(piece);
    op.operands.push_back(next);
    slack = std::max(slack, values[next].slack);
    type.shape[dim] += piece.shape[dim];
  }
  if (type.elements() > 3000)
    return false;
  return grown(add(std::move(op), type, slack));
}

/// Indices are drawn in and out of range.
Expected<bool> RandomGraph::growRows() {
  auto operand = pick([](const GraphValue &v) {
    return isNumber(v.type) && !v.type.shape.empty();
  });
  if (!operand)
    return false;
  TensorType type = values[*operand].type;
  unsigned kind = below(3), dim = below(type.shape.size());
  int64_t size = type.shape[dim];
  std::string at = " dim(" + std::to_string(dim) + ")";
  double largest = values[*operand].largest(), slack = values[*operand].slack;
  double rounding = isFloat(type) ? roundingOfSums(type.element) : 0;
  if (kind == 0) {
    slack = size * (slack + size * rounding * largest);
    return grown(add({"mp.cumsum",
                      at + (chance(50) ? " reverse" : ""),
                      tensor(type),
                      {*operand}},
                     type, slack));
  }
  unsigned indices = values.size();
  std::vector<int64_t> shape(below(3), 1 + below(5));
  if (kind == 1)
    shape = {size};
  addInput({chance(50) ? ElementType::I32 : ElementType::I64, shape}, false);
  std::string types = tensor(type) + ", " + tensor(values[indices].type);
  if (kind == 1) {
    type.shape[dim] = 1 + below(12);
    slack = size * (slack + size * rounding * largest);
    return grown(add({"mp.scatter_add",
                      at + " size(" + std::to_string(type.shape[dim]) + ")",
                      types,
                      {*operand, indices}},
                     type, slack));
  }
  type.shape.erase(type.shape.begin() + dim);
  type.shape.insert(type.shape.begin() + dim, shape.begin(), shape.end());
  if (type.elements() > 3000 || type.shape.size() > 5)
    return false;
  return grown(add({"mp.gather", at, types, {*operand, indices}}, type, slack));
}

} // namespace mp
