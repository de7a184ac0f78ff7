//===- GraphRecord.cpp - the graph that made a checkpoint -----------------===//
#include "runtime/train/GraphRecord.h"
#include "support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace mp {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string graphToText(ArrayRef<SourceOp> graph) {
  json::Array ops;
  for (const SourceOp &op : graph) {
    json::Object attributes;
    for (auto &[name, value] : op.attributes)
      attributes[validUtf8(name)] = validUtf8(value);
    ops.push_back(json::Array{validUtf8(op.name), validUtf8(op.type),
                              json::Array(op.operands), std::move(attributes)});
  }
  return formatv("{0}", json::Value(std::move(ops)));
}

static bool parseOp(const json::Value &value, SourceOp &op) {
  const json::Array *fields = value.getAsArray();
  if (!fields || fields->size() != 4)
    return false;
  auto name = (*fields)[0].getAsString(), type = (*fields)[1].getAsString();
  const json::Array *operands = (*fields)[2].getAsArray();
  const json::Object *attributes = (*fields)[3].getAsObject();
  if (!name || !type || !operands || !attributes)
    return false;
  op.name = name->str();
  op.type = type->str();
  for (const json::Value &operand : *operands) {
    auto number = operand.getAsInteger();
    if (!number)
      return false;
    op.operands.push_back(*number);
  }
  for (auto &[key, text] : *attributes) {
    auto string = text.getAsString();
    if (!string)
      return false;
    op.attributes.emplace_back(key.str(), string->str());
  }
  // An object has no order, where attributes are sorted.
  llvm::sort(op.attributes);
  return true;
}

std::optional<std::vector<SourceOp>> parseGraph(StringRef text) {
  Expected<json::Value> parsed = parseJson(text);
  if (!parsed)
    return consumeError(parsed.takeError()), std::nullopt;
  const json::Array *ops = parsed->getAsArray();
  if (!ops)
    return std::nullopt;
  std::vector<SourceOp> graph(ops->size());
  for (auto [value, op] : zip_equal(*ops, graph))
    if (!parseOp(value, op))
      return std::nullopt;
  return graph;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

namespace {

/// Finds the ops that two graphs share, in order, and describes the others.
class GraphComparison {
public:
  GraphComparison(ArrayRef<SourceOp> before, ArrayRef<SourceOp> now)
      : before(before), now(now) {}
  std::vector<GraphDifference> run();

private:
  /// An op that was put in changes the numbers of all later values, so numbers
  /// are compared only where all else is equal.
  static bool isSame(const SourceOp &a, const SourceOp &b) {
    return a.name == b.name && a.type == b.type && a.attributes == b.attributes;
  }
  void compareStretch(ArrayRef<SourceOp> gone, ArrayRef<SourceOp> come);
  void changed(ArrayRef<SourceOp> gone, ArrayRef<SourceOp> come);
  void compareOp(const SourceOp &a, const SourceOp &b);
  void compareAttributes(const SourceOp &a, const SourceOp &b);
  void compareOperands();
  std::string place(const SourceOp &op) const {
    return op.name + at(op.location);
  }
  void add(std::string text, bool isHyperparameter = false) {
    lines.push_back({std::move(text), isHyperparameter});
  }

  ArrayRef<SourceOp> before, now;
  std::vector<GraphDifference> lines;
};

std::vector<GraphDifference> GraphComparison::run() {
  ArrayRef<SourceOp> a = before, b = now;
  while (!a.empty() && !b.empty() && isSame(a.front(), b.front()))
    a = a.drop_front(), b = b.drop_front();
  while (!a.empty() && !b.empty() && isSame(a.back(), b.back()))
    a = a.drop_back(), b = b.drop_back();
  if (a.empty() && b.empty())
    compareOperands();
  else
    compareStretch(a, b);
  return std::move(lines);
}

/// Describes what a longest common subsequence leaves over.
void GraphComparison::compareStretch(ArrayRef<SourceOp> gone,
                                     ArrayRef<SourceOp> come) {
  // The table takes two bytes a pair. Graphs that differ in so many places have
  // nothing to be said of single ops.
  constexpr size_t most = size_t(1) << 24;
  size_t rows = gone.size() + 1, columns = come.size() + 1;
  if (rows * columns > most || rows > UINT16_MAX)
    return changed(gone, come);
  std::vector<uint16_t> common(rows * columns);
  auto length = [&](size_t i, size_t j) -> uint16_t & {
    return common[i * columns + j];
  };
  for (size_t i = gone.size(); i-- > 0;)
    for (size_t j = come.size(); j-- > 0;)
      length(i, j) = isSame(gone[i], come[j])
                         ? length(i + 1, j + 1) + 1
                         : std::max(length(i + 1, j), length(i, j + 1));
  size_t i = 0, j = 0, firstGone = 0, firstCome = 0;
  while (i < gone.size() || j < come.size()) {
    if (i < gone.size() && j < come.size() && isSame(gone[i], come[j])) {
      changed(gone.slice(firstGone, i - firstGone),
              come.slice(firstCome, j - firstCome));
      firstGone = ++i, firstCome = ++j;
    } else if (j == come.size() ||
               (i < gone.size() && length(i + 1, j) >= length(i, j + 1))) {
      ++i;
    } else {
      ++j;
    }
  }
  changed(gone.drop_front(firstGone), come.drop_front(firstCome));
}

/// Describes ops that stand between two that the graphs share.
void GraphComparison::changed(ArrayRef<SourceOp> gone,
                              ArrayRef<SourceOp> come) {
  for (auto [a, b] : zip(gone, come))
    compareOp(a, b);
  for (const SourceOp &op : gone.drop_front(std::min(gone.size(), come.size())))
    add("the checkpoint's " + op.name + " is missing");
  for (const SourceOp &op : come.drop_front(std::min(gone.size(), come.size())))
    add(place(op) + " is not in the checkpoint's graph");
}

void GraphComparison::compareOp(const SourceOp &a, const SourceOp &b) {
  if (a.name != b.name)
    return add(place(b) + " instead of the checkpoint's " + a.name);
  if (a.type != b.type)
    add(place(b) + " is " + b.type + ", " + a.type + " in the checkpoint");
  compareAttributes(a, b);
}

/// Another optimizer is no hyperparameter: its slots mean something else.
static bool isHyperparameter(const SourceOp &op, StringRef attribute,
                             StringRef before, StringRef now) {
  auto kind = [](StringRef optimizer) { return optimizer.split('<').first; };
  return op.name == "mp.minimize" &&
         (attribute == "schedule" ||
          (attribute == "optimizer" && kind(before) == kind(now)));
}

void GraphComparison::compareAttributes(const SourceOp &a, const SourceOp &b) {
  std::map<StringRef, std::pair<StringRef, StringRef>> both;
  for (auto &[name, value] : a.attributes)
    both[name].first = value;
  for (auto &[name, value] : b.attributes)
    both[name].second = value;
  for (auto &[name, values] : both) {
    auto [old, fresh] = values;
    if (old == fresh)
      continue;
    auto text = [](StringRef value) {
      return value.empty() ? "absent" : value;
    };
    add(formatv("{0}: {1} is {2}, {3} in the checkpoint", place(b), name,
                text(fresh), text(old)),
        isHyperparameter(b, name, old, fresh));
  }
}

/// Names the first op that takes other values: those after it may merely have
/// other numbers.
void GraphComparison::compareOperands() {
  for (auto [a, b] : zip_equal(before, now))
    if (a.operands != b.operands)
      return add(place(b) + " takes other values than in the checkpoint");
}

} // namespace

std::vector<GraphDifference> compareGraphs(ArrayRef<SourceOp> before,
                                           ArrayRef<SourceOp> now) {
  return GraphComparison(before, now).run();
}

} // namespace mp
