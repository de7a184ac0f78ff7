//===- RandomGraph.cpp - seeded graphs and what they must compute ---------===//
#include "RandomGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>

using namespace llvm;

namespace mp {

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static std::string tensor(const TensorType &type) {
  return "tensor<" + type.str() + ">";
}
static bool isFloat(const TensorType &type) {
  return type.element >= ElementType::F16;
}
static bool isNumber(const TensorType &type) {
  return isFloat(type) || type.element == ElementType::I32 ||
         type.element == ElementType::I64;
}
/// Half a unit in the last place of one, in the type that results round to.
static double roundingOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 0x1p-11;
  case ElementType::BF16:
    return 0x1p-8;
  case ElementType::F32:
    return 0x1p-24;
  case ElementType::F64:
    return 0x1p-53;
  default:
    return 0;
  }
}
/// Of the type that sums are kept in.
static double roundingOfSums(ElementType type) {
  return std::min(roundingOf(type), 0x1p-24);
}

double GraphValue::largest() const {
  double largest = 0;
  for (double number : numbers)
    largest = std::max(largest, std::abs(number));
  return largest;
}

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

/// Functions of one op, each compiled once however many graphs have it.
static Expected<GoldenFunction *> functionOf(const std::string &module) {
  static std::map<std::string, GoldenFunction> known;
  auto found = known.find(module);
  if (found == known.end()) {
    Expected<GoldenFunction> compiled = GoldenFunction::compile(module);
    if (!compiled)
      return createStringError(toString(compiled.takeError()) + "\n" + module);
    found = known.emplace(module, std::move(*compiled)).first;
  }
  return &found->second;
}

std::optional<unsigned>
RandomGraph::pick(function_ref<bool(const GraphValue &)> suits) {
  SmallVector<unsigned> found;
  for (unsigned i = 0; i < values.size(); ++i)
    if (suits(values[i]) && values[i].largest() < 1e4)
      found.push_back(i);
  if (found.empty())
    return std::nullopt;
  unsigned first = below(found.size());
  return found[chance(50) ? first : std::max(first, below(found.size()))];
}

std::vector<int64_t> RandomGraph::randomShape() {
  static constexpr int64_t sizes[] = {1, 1, 2, 3, 4, 5, 7, 16, 17, 33};
  std::vector<int64_t> shape(below(5));
  int64_t elements = 1;
  for (int64_t &size : shape) {
    size = sizes[below(std::size(sizes))];
    if (elements * size > 3000)
      size = 1;
    elements *= size;
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

std::string RandomGraph::text(const GraphOp &op,
                              ArrayRef<std::string> names) const {
  return op.head + " " + join(names, ", ") + op.attributes + " : " + op.tail;
}

Error RandomGraph::add(GraphOp op, TensorType type, double slack) {
  std::vector<std::string> names, declared;
  std::vector<Numbers> inputs;
  for (auto [i, operand] : enumerate(op.operands)) {
    names.push_back("%a" + std::to_string(i));
    declared.push_back(names.back() + ": " + tensor(values[operand].type));
    inputs.push_back(values[operand].numbers);
  }
  std::string result = tensor(type);
  std::string alone = "func.func @f(" + join(declared, ", ") + ") -> " +
                      result + " {\n  %r = " + text(op, names) +
                      "\n  return %r : " + result + "\n}\n";
  Expected<GoldenFunction *> function = functionOf(alone);
  if (!function)
    return function.takeError();
  Expected<std::vector<Numbers>> computed = (**function)(inputs);
  if (!computed)
    return computed.takeError();
  GraphValue value{"%v" + std::to_string(values.size()), type,
                   computed->front(), slack};
  if (slack > 0)
    value.slack += 2 * roundingOf(type.element) * value.largest();
  ops.emplace_back(std::move(op), values.size());
  values.push_back(std::move(value));
  return Error::success();
}

void RandomGraph::addInput(TensorType type, bool variable) {
  Numbers numbers(type.elements());
  for (double &number : numbers) {
    double drawn = below(256);
    number = type.element == ElementType::I1   ? std::fmod(drawn, 2)
             : type.element == ElementType::U8 ? drawn
             : isFloat(type)                   ? std::fmod(drawn, 33) / 8 - 2
                                               : std::fmod(drawn, 21) - 10;
  }
  unsigned index = values.size();
  values.push_back({(variable ? "%r" : "%x") + std::to_string(index),
                    std::move(type), std::move(numbers)});
  if (variable)
    variables.push_back({index, std::nullopt, std::nullopt});
  else
    arguments.push_back(index);
}

void RandomGraph::addInputs() {
  static constexpr ElementType elements[] = {
      ElementType::F32, ElementType::F32,  ElementType::F32, ElementType::F64,
      ElementType::F16, ElementType::BF16, ElementType::I32, ElementType::I64};
  ElementType element = elements[below(std::size(elements))];
  for (unsigned i = 0, count = 1 + below(3); i < count; ++i) {
    std::vector<int64_t> shape = randomShape();
    addInput({element, shape}, false);
    if (chance(50)) { // one that is repeated along some dimensions
      for (int64_t &size : shape)
        if (chance(40))
          size = 1;
      shape.erase(shape.begin(), shape.begin() + below(shape.size() + 1));
      addInput({element, shape}, false);
    }
    if (chance(60))
      for (unsigned twins = 1 + below(2); twins > 0; --twins)
        addInput({element, values.front().type.shape}, true);
  }
  if (chance(20))
    addInput({ElementType::U8, randomShape()}, false);
  if (chance(30))
    addInput({ElementType::I1, {}}, false);
}

void RandomGraph::addOutputs() {
  for (unsigned i = 0; i < values.size(); ++i)
    if (chance(25))
      results.push_back(i);
  results.push_back(values.size() - 1);
  for (Variable &variable : variables) {
    const TensorType type = values[variable.read].type;
    // Rather what an op made than another input.
    bool made = chance(80);
    if (chance(80))
      variable.written = pick([&](const GraphValue &value) {
        return value.type == type && (value.name[1] == 'v' || !made);
      });
    if (variable.written && chance(30))
      variable.predicate = pick([](const GraphValue &value) {
        return value.type == mp::TensorType{ElementType::I1, {}};
      });
  }
}

Expected<RandomGraph> RandomGraph::create(unsigned seed) {
  RandomGraph graph(seed);
  graph.addInputs();
  unsigned wanted = 1 + graph.below(graph.chance(20) ? 50 : 14);
  for (unsigned tries = 0; wanted > 0 && tries < 200; ++tries) {
    Expected<bool> grown = graph.grow();
    if (!grown)
      return grown.takeError();
    wanted -= *grown;
  }
  graph.addOutputs();
  return graph;
}

std::string RandomGraph::module() const {
  std::string text;
  raw_string_ostream os(text);
  for (const Variable &variable : variables)
    os << "mp.variable buffer @" << values[variable.read].name.substr(1)
       << " : " << tensor(values[variable.read].type) << " = #mp.init<zeros>\n";
  auto declare = [&](unsigned index) {
    return values[index].name + ": " + tensor(values[index].type);
  };
  auto typeOf = [&](unsigned index) { return tensor(values[index].type); };
  auto nameOf = [&](unsigned index) { return values[index].name; };
  os << "func.func @f(" << join(map_range(arguments, declare), ", ") << ") -> ("
     << join(map_range(results, typeOf), ", ") << ") {\n";
  for (const Variable &variable : variables)
    os << "  " << nameOf(variable.read) << " = mp.read @"
       << nameOf(variable.read).substr(1) << " : " << typeOf(variable.read)
       << "\n";
  for (auto &[op, result] : ops)
    os << "  " << nameOf(result) << " = "
       << this->text(op, to_vector(map_range(op.operands, nameOf))) << "\n";
  for (const Variable &variable : variables)
    if (variable.written) {
      os << "  mp.write @" << nameOf(variable.read).substr(1) << ", "
         << nameOf(*variable.written);
      if (variable.predicate)
        os << " if " << nameOf(*variable.predicate);
      os << " : " << typeOf(*variable.written) << "\n";
    }
  os << "  return " << join(map_range(results, nameOf), ", ")
     << (results.empty() ? "" : " : ") << join(map_range(results, typeOf), ", ")
     << "\n}\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Expected<bool> RandomGraph::grow() {
  unsigned kind = below(100);
  return kind < 22   ? growUnary()
         : kind < 50 ? growBinary()
         : kind < 57 ? growFlags()
         : kind < 74 ? growReduction()
         : kind < 87 ? growView()
         : kind < 92 ? growSoftmax()
         : kind < 96 ? growContraction()
                     : growCast();
}

/// What `add` said, as an answer to `grow`.
static Expected<bool> grown(Error error) {
  if (error)
    return std::move(error);
  return true;
}

Expected<bool> RandomGraph::growUnary() {
  static const char *const names[] = {"neg",  "abs",  "relu",    "tanh",
                                      "gelu", "gelu", "sigmoid", "exp"};
  auto operand = pick([](const GraphValue &v) { return isFloat(v.type); });
  if (!operand)
    return false;
  std::string name = names[below(std::size(names))];
  const GraphValue &value = values[*operand];
  if (name == "exp" && value.largest() > 3)
    name = "tanh";
  double slope = name == "exp" ? std::exp(value.largest()) : 1.2;
  std::string attributes =
      name == "gelu" && chance(50) ? " approximate(tanh)" : "";
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
  // A divisor near zero magnifies whatever slack there is.
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

Expected<bool> RandomGraph::growReduction() {
  static const char *const names[] = {"sum",  "sum", "sum",
                                      "mean", "max", "min"};
  auto operand = pick([](const GraphValue &v) {
    return (isNumber(v.type) || v.type.element == ElementType::I1) &&
           !v.type.shape.empty();
  });
  if (!operand)
    return false;
  const GraphValue &value = values[*operand];
  std::string name = names[below(std::size(names))];
  if (value.type.element == ElementType::I1)
    name = "any";
  else if (name == "mean" && !isFloat(value.type))
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
  double slack = value.slack;
  if (isFloat(type) && name == "sum")
    slack = count *
            (slack + count * roundingOfSums(type.element) * value.largest());
  else if (isFloat(type) && name == "mean")
    slack += (count + 1) * roundingOfSums(type.element) * value.largest();
  return grown(
      add({"mp." + name,
           " dims[" + join(dims, ", ") + "]" + (keepdim ? " keepdim" : ""),
           tensor(value.type),
           {*operand}},
          type, slack));
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
