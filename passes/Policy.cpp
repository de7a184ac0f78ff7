//===- Policy.cpp - which ops an autocast runs low ------------------------===//
#include "passes/Policy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <algorithm>

using namespace llvm;
using namespace mp;

namespace {
struct EmbeddedPolicy {
  StringRef name, text;
};
const EmbeddedPolicy kPolicies[] = {
#include "passes/Policies.inc"
};
} // namespace

std::vector<std::string> Policy::names() {
  std::vector<std::string> all;
  for (const EmbeddedPolicy &policy : kPolicies)
    all.push_back(policy.name.str());
  return all;
}

Expected<Policy> Policy::load(StringRef name) {
  const auto *found =
      llvm::find_if(kPolicies, [&](const EmbeddedPolicy &policy) {
        return policy.name == name;
      });
  if (found == std::end(kPolicies))
    return createStringError("unknown autocast policy \"" + name +
                             "\", expected " + join(names(), ", "));
  auto value = json::parse(found->text);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  Policy policy;
  if (!object || !object->getString("system"))
    return createStringError("policy \"" + name + "\" names no system");
  policy.vocabulary = object->getString("system")->str();
  const std::pair<StringRef, Category> lists[] = {
      {"allow", Category::Allow},
      {"deny", Category::Deny},
      {"promote", Category::Promote},
      {"banned", Category::Banned},
      {"native", Category::Native}};
  for (auto [key, category] : lists) {
    const json::Array *list = object->getArray(key);
    if (!list)
      return createStringError("policy \"" + name + "\" has no list \"" + key +
                               "\"");
    for (const json::Value &op : *list)
      policy.categories[op.getAsString().value_or("")] = category;
  }
  return policy;
}

std::vector<std::string> mp::nearestNames(StringRef word,
                                          ArrayRef<std::string> names) {
  std::vector<std::pair<unsigned, std::string>> ranked;
  for (const std::string &name : names) {
    unsigned distance = word.edit_distance(name, /*AllowReplacements=*/true,
                                           /*MaxEditDistance=*/8);
    if (distance <= std::max<size_t>(2, word.size() / 2))
      ranked.emplace_back(distance, name);
  }
  llvm::sort(ranked);
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::vector<std::string> nearest;
  for (const auto &[distance, name] : ArrayRef(ranked).take_front(3))
    nearest.push_back(name);
  return nearest;
}

Error Policy::move(ArrayRef<std::string> ops, Category category,
                   ArrayRef<std::string> known) {
  for (const std::string &op : ops) {
    if (!categories.count(op) && !is_contained(known, op)) {
      std::vector<std::string> all(known);
      for (const auto &entry : categories)
        all.push_back(entry.getKey().str());
      auto nearest = nearestNames(op, all);
      return createStringError(
          "unknown op \"" + op + "\" in a list of ops" +
          (nearest.empty() ? ""
                           : "; did you mean " + join(nearest, ", ") + "?"));
    }
    categories[op] = category;
  }
  return Error::success();
}

Category Policy::categoryOf(StringRef op) const {
  auto found = categories.find(op);
  return found == categories.end() ? Category::Native : found->second;
}

bool Policy::lists(StringRef op) const { return categories.count(op); }
