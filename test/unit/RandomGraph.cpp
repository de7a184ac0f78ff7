//===- RandomGraph.cpp - seeded graphs and their expected results ---------===//
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

double roundingOf(ElementType type) {
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
double GraphValue::largest() const {
  double largest = 0;
  for (double number : numbers)
    largest = std::max(largest, std::abs(number));
  return largest;
}

/// Returns functions of one op, each compiled once for all graphs.
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
    // Prefers results of ops to another input.
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

} // namespace mp
