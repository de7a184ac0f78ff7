//===- RandomGraphOps.cpp - which ops a random graph grows by -------------===//
#include "RandomGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace mp {

static std::optional<std::vector<int64_t>> broadcast(ArrayRef<int64_t> lhs,
                                                     ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  std::vector<int64_t> shape = lhs.vec();
  for (size_t i = 0; i < rhs.size(); ++i) {
    int64_t &size = shape[lhs.size() - rhs.size() + i];
    if (size == 1)
      size = rhs[i];
    else if (rhs[i] != 1 && rhs[i] != size)
      return std::nullopt;
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Expected<bool> RandomGraph::grow() {
  unsigned kind = below(100);
  return kind < 22   ? growUnary()
         : kind < 50 ? growBinary()
         : kind < 57 ? growFlags()
         : kind < 72 ? growReduction()
         : kind < 80 ? growView()
         : kind < 84 ? growBox()
         : kind < 87 ? growRows()
         : kind < 92 ? growSoftmax()
         : kind < 94 ? growContraction()
         : kind < 97 ? growBranch()
                     : growCast();
}

Expected<bool> RandomGraph::growUnary() {
  static const char *const names[] = {
      "neg",  "abs",     "relu",  "tanh",       "gelu",  "gelu",
      "silu", "sigmoid", "exp",   "leaky_relu", "elu",   "sin",
      "cos",  "erf",     "floor", "sign",       "clamp", "reciprocal"};
  auto operand = pick([](const GraphValue &v) { return isFloat(v.type); });
  if (!operand)
    return false;
  std::string name = names[below(std::size(names))];
  const GraphValue &value = values[*operand];
  if (name == "exp" && value.largest() > 3)
    name = "tanh";
  // Steps and poles magnify any slack.
  bool isSteep = name == "floor" || name == "sign" || name == "reciprocal";
  if (isSteep && value.slack)
    name = "abs";
  double slope = name == "exp" ? std::exp(value.largest()) : 1.2;
  std::string attributes =
      name == "gelu" && chance(50) ? " approximate(tanh)" : "";
  if (name == "clamp")
    attributes = chance(50) ? " {max = 0.75, min = -0.5}" : " {min = -0.25}";
  return grown(add({"mp." + name, attributes, tensor(value.type), {*operand}},
                   value.type, slope * value.slack));
}

Expected<bool> RandomGraph::growBinary() {
  static const char *const names[] = {"add", "add",     "sub",     "mul",
                                      "mul", "maximum", "minimum", "div"};
  auto lhs = pick([](const GraphValue &v) { return isNumber(v.type); });
  if (!lhs)
    return false;
  const GraphValue &a = values[*lhs];
  auto rhs = pick([&](const GraphValue &v) {
    return v.type.element == a.type.element &&
           broadcast(a.type.shape, v.type.shape);
  });
  if (chance(50))
    std::swap(lhs, rhs);
  const GraphValue &x = values[*lhs], &y = values[*rhs];
  std::string name = names[below(std::size(names))];
  // A divisor near zero magnifies any slack.
  if (name == "div" && (!isFloat(x.type) || x.slack || y.slack))
    name = "sub";
  TensorType type{x.type.element, *broadcast(x.type.shape, y.type.shape)};
  if (type.elements() > 3000)
    return false;
  double slack = name == "mul" ? x.largest() * y.slack + y.largest() * x.slack
                               : x.slack + y.slack;
  return grown(add(
      {"mp." + name, "", tensor(x.type) + ", " + tensor(y.type), {*lhs, *rhs}},
      type, slack));
}

Expected<bool> RandomGraph::growFlags() {
  static const char *const relations[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  auto isFlag = [](const GraphValue &v) {
    return v.type.element == ElementType::I1;
  };
  auto lhs =
      pick([](const GraphValue &v) { return isNumber(v.type) && !v.slack; });
  auto like = [&](const GraphValue &v) {
    auto shape = broadcast(values[*lhs].type.shape, v.type.shape);
    return v.type.element == values[*lhs].type.element && !v.slack && shape &&
           TensorType{ElementType::I1, *shape}.elements() <= 3000;
  };
  auto flag = pick(isFlag);
  if (flag && chance(40)) {
    const TensorType type = values[*flag].type;
    if (chance(30))
      return grown(add({"mp.not", "", tensor(type), {*flag}}, type, 0));
    auto other = pick([&](const GraphValue &v) { return v.type == type; });
    return grown(add({chance(50) ? "mp.or" : "mp.and",
                      "",
                      tensor(type) + ", " + tensor(type),
                      {*flag, *other}},
                     type, 0));
  }
  if (!lhs)
    return false;
  auto rhs = pick(like);
  if (!rhs)
    return false;
  const TensorType x = values[*lhs].type, y = values[*rhs].type;
  std::string types = tensor(x) + ", " + tensor(y);
  std::vector<int64_t> shape = *broadcast(x.shape, y.shape);
  flag = pick([&](const GraphValue &v) {
    return isFlag(v) && broadcast(shape, v.type.shape) == shape;
  });
  if (flag && chance(60))
    return grown(add({"mp.select",
                      "",
                      tensor(values[*flag].type) + ", " + types,
                      {*flag, *lhs, *rhs}},
                     {x.element, shape}, 0));
  return grown(add({std::string("mp.compare ") + relations[below(6)],
                    "",
                    types,
                    {*lhs, *rhs}},
                   {ElementType::I1, shape}, 0));
}

/// Returns the slack of a reduction of `count` floats to one.
static double slackOfReduction(StringRef name, const GraphValue &value,
                               int64_t count) {
  double rounding = roundingOfSums(value.type.element);
  double largest = value.largest(), slack = value.slack;
  if (name == "sum" || name == "norm p(1)")
    return count * (slack + count * rounding * largest);
  if (name == "mean")
    return slack + (count + 1) * rounding * largest;
  if (name == "prod") {
    double size = std::max(largest, 1.0);
    return count * std::pow(size, count) * (slack + rounding);
  }
  if (name == "norm") // Lipschitz in the length of the difference
    return std::sqrt(count) * (slack + (count + 2) * rounding * largest);
  if (name == "logsumexp")
    return slack + rounding * (8 + count + 4 * largest);
  return slack; // an element, or the size of one
}

Expected<bool> RandomGraph::growReduction() {
  static const char *const names[] = {
      "sum",  "sum",    "sum",  "mean",      "max",       "min",
      "prod", "argmax", "norm", "logsumexp", "norm p(1)", "norm p(inf)"};
  auto operand = pick([](const GraphValue &v) {
    return (isNumber(v.type) || v.type.element == ElementType::I1) &&
           !v.type.shape.empty();
  });
  if (!operand)
    return false;
  const GraphValue &value = values[*operand];
  std::string name = names[below(std::size(names))];
  bool ofFloats = isFloat(value.type);
  if (value.type.element == ElementType::I1)
    name = "any";
  else if (name == "argmax" && !value.slack)
    return growArgmax(*operand);
  else if (name == "argmax" ||
           (!ofFloats && name != "prod" && name != "max" && name != "min"))
    name = "sum";
  bool keepdim = chance(40);
  TensorType type{value.type.element, {}};
  std::vector<std::string> dims;
  int64_t count = 1;
  unsigned last = below(value.type.shape.size()); // at least one of them
  for (auto [dim, size] : enumerate(value.type.shape)) {
    if (dim != last && chance(60)) {
      type.shape.push_back(size);
      continue;
    }
    dims.push_back(std::to_string(dim));
    count *= size;
    if (keepdim)
      type.shape.push_back(1);
  }
  // A product of many soon becomes infinite.
  if (ofFloats && name == "prod" && (count > 6 || value.largest() > 4))
    name = "sum";
  double slack = ofFloats ? slackOfReduction(name, value, count) : 0;
  auto [head, order] = StringRef(name).split(' ');
  return grown(
      add({"mp." + head.str(),
           " dims[" + join(dims, ", ") + "]" + (keepdim ? " keepdim" : "") +
               (order.empty() ? "" : " " + order.str()),
           tensor(value.type),
           {*operand}},
          type, slack));
}

Expected<bool> RandomGraph::growArgmax(unsigned operand) {
  const GraphValue &value = values[operand];
  bool narrow = chance(50), keepdim = chance(40);
  TensorType type{narrow ? ElementType::I32 : ElementType::I64,
                  value.type.shape};
  unsigned dim = below(type.shape.size());
  if (keepdim)
    type.shape[dim] = 1;
  else
    type.shape.erase(type.shape.begin() + dim);
  return grown(
      add({"mp.argmax",
           " dim(" + std::to_string(dim) + ")" + (keepdim ? " keepdim" : "") +
               (narrow ? " {dtype = i32}" : ""),
           tensor(value.type),
           {operand}},
          type, 0));
}

Expected<bool> RandomGraph::growView() {
  auto operand = pick([](const GraphValue &) { return true; });
  const GraphValue &value = values[*operand];
  TensorType type = value.type;
  unsigned kind = below(3);
  if (kind == 0) { // transpose
    std::vector<int64_t> order(type.shape.size());
    std::vector<std::string> spelled;
    for (auto [i, dim] : enumerate(order))
      dim = i;
    std::shuffle(order.begin(), order.end(), random);
    for (auto [i, dim] : enumerate(order)) {
      type.shape[i] = value.type.shape[dim];
      spelled.push_back(std::to_string(dim));
    }
    return grown(add({"mp.transpose",
                      " [" + join(spelled, ", ") + "]",
                      tensor(value.type),
                      {*operand}},
                     type, value.slack));
  }
  if (kind == 1) { // reshape: leave ones out, put some in, merge neighbours
    std::vector<int64_t> shape;
    for (int64_t size : type.shape) {
      if (size == 1 && chance(50))
        continue;
      if (!shape.empty() && chance(40))
        shape.back() *= size;
      else
        shape.push_back(size);
      if (chance(20))
        shape.push_back(1);
    }
    if (shape.empty() && type.elements() != 1)
      return false;
    type.shape = shape;
  } else { // broadcast: new leading dimensions, larger ones
    for (int64_t &size : type.shape)
      if (size == 1 && chance(50))
        size = 2 + below(5);
    if (chance(40))
      type.shape.insert(type.shape.begin(), 1 + below(4));
  }
  if (type.elements() > 3000 || type.shape.size() > 5)
    return false;
  return grown(add({kind == 1 ? "mp.reshape" : "mp.broadcast",
                    "",
                    tensor(value.type) + " to " + tensor(type),
                    {*operand}},
                   type, value.slack));
}

Expected<bool> RandomGraph::growSoftmax() {
  auto operand = pick([](const GraphValue &v) {
    return isFloat(v.type) && !v.type.shape.empty();
  });
  if (!operand)
    return false;
  const GraphValue &value = values[*operand];
  unsigned dim = below(value.type.shape.size());
  double rounding = roundingOfSums(value.type.element);
  double slack = 2 * value.slack +
                 rounding * (8 + value.type.shape[dim] + 4 * value.largest());
  return grown(add({chance(50) ? "mp.softmax" : "mp.log_softmax",
                    " dim(" + std::to_string(dim) + ")",
                    tensor(value.type),
                    {*operand}},
                   value.type, slack));
}

Expected<bool> RandomGraph::growContraction() {
  auto lhs = pick([](const GraphValue &v) {
    return isFloat(v.type) && !v.type.shape.empty();
  });
  if (!lhs)
    return false;
  const TensorType left = values[*lhs].type;
  int64_t k = left.shape.back(), n = 1 + below(9);
  unsigned weight = values.size();
  addInput({left.element, {n, k}}, false);
  const GraphValue &a = values[*lhs], &b = values[weight];
  GraphOp op{
      "mp.linear", "", tensor(left) + ", " + tensor(b.type), {*lhs, weight}};
  TensorType type = left;
  type.shape.back() = n;
  double slack = k * (b.largest() * a.slack + k * roundingOfSums(left.element) *
                                                  a.largest() * b.largest());
  if (left.shape.size() >= 2 && chance(50)) {
    op.head = "mp.matmul";
    op.attributes = " transpose_b";
  } else if (chance(50)) {
    op.operands.push_back(values.size());
    op.tail += ", tensor<" + TensorType{left.element, {n}}.str() + ">";
    addInput({left.element, {n}}, false);
    slack += 8 * roundingOfSums(left.element);
  }
  return grown(add(std::move(op), type, slack));
}

/// Adds a product, and beside it an activation of the product's operand: a
/// kernel must not take that for the product's own.
Expected<bool> RandomGraph::growBranch() {
  auto input = pick([](const GraphValue &v) {
    return isFloat(v.type) && v.type.shape.size() >= 2;
  });
  if (!input)
    return false;
  const TensorType type = values[*input].type;
  int64_t k = type.shape.back();
  if (k * k > 3000)
    return false;
  unsigned weight = values.size();
  addInput({type.element, {k, k}}, false);
  double slack = k * (values[weight].largest() * values[*input].slack +
                      k * roundingOfSums(type.element) *
                          values[*input].largest() * values[weight].largest());
  unsigned product = values.size();
  if (Error error = add({"mp.linear",
                         "",
                         tensor(type) + ", " + tensor(values[weight].type),
                         {*input, weight}},
                        type, slack))
    return std::move(error);
  unsigned beside = values.size();
  if (Error error = add({"mp.relu", "", tensor(type), {*input}}, type,
                        values[*input].slack))
    return std::move(error);
  const GraphValue &x = values[product], &y = values[beside];
  bool gates = chance(50);
  return grown(add({gates ? "mp.mul" : "mp.add",
                    "",
                    tensor(type) + ", " + tensor(type),
                    {product, beside}},
                   type,
                   gates ? x.largest() * y.slack + y.largest() * x.slack
                         : x.slack + y.slack));
}

Expected<bool> RandomGraph::growCast() {
  static constexpr ElementType elements[] = {
      ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64};
  auto operand = pick([](const GraphValue &v) { return true; });
  const GraphValue &value = values[*operand];
  TensorType type{elements[below(4)], value.type.shape};
  if (type.element == value.type.element)
    return false;
  return grown(add(
      {"mp.cast", "", tensor(value.type) + " to " + tensor(type), {*operand}},
      type, value.slack));
}

} // namespace mp
