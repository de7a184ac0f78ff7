//===- PolicyDecision.cpp - a policy's category for an op -----------------===//
#include "passes/autocast/Policy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace llvm;
using namespace mp;

std::vector<std::string> mp::placeNames(mlir::Operation *op) {
  std::string name = (op->getName().getStringRef() + "@").str();
  std::vector<std::string> names;
  if (auto place = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>()) {
    std::string line = (name + sys::path::filename(place.getFilename()) + ":" +
                        Twine(place.getLine()))
                           .str();
    names.push_back(line + ":" + std::to_string(place.getColumn()));
    names.push_back(std::move(line));
  }
  if (auto named = op->getLoc()->findInstanceOf<mlir::NameLoc>();
      named && !named.getName().empty())
    names.push_back(name + named.getName().str());
  return names;
}

std::vector<std::string> Policy::listedPlaces() const {
  std::vector<std::string> places;
  for (const Layer &layer : layers)
    if (layer.type.empty() || layer.type == chosenType)
      for (const auto &entry : layer.names)
        if (entry.getKey().contains('@'))
          places.push_back(entry.getKey().str());
  llvm::sort(places);
  return places;
}

/// Returns the stricter category, for an op that other systems make of several:
/// a category that forbids counts before one that allows.
static Category strictest(Category one, Category other) {
  constexpr Category order[] = {
      Category::Banned,   Category::Deny,    Category::Result, Category::Allow,
      Category::Boundary, Category::Promote, Category::Infer,  Category::Follow,
      Category::Native,   Category::Clear,   Category::Barrier};
  static_assert(std::size(order) == kCategoryCount);
  return std::min(one, other, [&](Category a, Category b) {
    return llvm::find(order, a) < llvm::find(order, b);
  });
}

std::optional<CastDecision> Policy::decideByWord(mlir::Operation *op) {
  auto word = op->getAttrOfType<mlir::StringAttr>(kAutocastAttr);
  if (!word)
    return std::nullopt;
  return CastDecision{word.getValue() == "f32" ? Category::Deny
                                               : Category::Allow,
                      ("the op says " + word.getValue()).str()};
}

CastDecision Policy::decide(AutocastOpInterface op) const {
  if (auto own = decideByWord(op))
    return *own;
  mlir::OperationName name = op->getName();
  auto *facts = name.getInterface<AutocastOpInterface>();
  return decide(name.getStringRef(), namesIn(vocabulary, *facts),
                op.getNumericClass(), placeNames(op));
}

/// Looks an op up in one layer: by the op alone, by its own name, by the
/// system's, then by the kind of arithmetic.
static std::optional<CastDecision> judgeIn(const StringMap<Category> &layer,
                                           ArrayRef<std::string> places,
                                           StringRef op,
                                           ArrayRef<StringRef> systemNames,
                                           const std::string &kind) {
  auto listedAs = [&](StringRef name) -> std::optional<CastDecision> {
    auto found = layer.find(name);
    if (found == layer.end())
      return std::nullopt;
    return CastDecision{
        found->second,
        ("listed under " + nameOf(found->second) + " as \"" + name + "\"")
            .str()};
  };
  for (const std::string &place : places)
    if (auto alone = listedAs(place))
      return alone;
  if (auto own = listedAs(op))
    return own;
  std::optional<CastDecision> found;
  for (StringRef name : systemNames)
    if (auto part = listedAs(name))
      if (!found ||
          strictest(part->category, found->category) != found->category)
        found = part;
  return found ? found : listedAs(kind);
}

CastDecision Policy::decide(StringRef op, StringRef names,
                            NumericClass numericClass,
                            ArrayRef<std::string> places) const {
  SmallVector<StringRef> parts;
  names.split(parts, '+', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string kind = className(numericClass);
  for (const Layer &layer : llvm::reverse(layers)) {
    if (!layer.type.empty() && layer.type != chosenType)
      continue;
    if (auto decision = judgeIn(layer.names, places, op, parts, kind)) {
      if (!layer.type.empty())
        decision->rule += " for " + layer.type;
      return *decision;
    }
  }
  return {otherwise, ("not listed, so " + nameOf(otherwise)).str()};
}
