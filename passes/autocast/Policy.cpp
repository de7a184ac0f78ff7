//===- Policy.cpp - which ops an autocast runs low ------------------------===//
#include "passes/autocast/Policy.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>

using namespace llvm;
using namespace mp;

namespace {
struct EmbeddedPolicy {
  StringRef name, text;
};
const EmbeddedPolicy kPolicies[] = {
#include "passes/autocast/Policies.inc"
};

constexpr StringRef kCategories[] = {"allow",  "deny",   "promote", "banned",
                                     "native", "follow", "result",  "boundary",
                                     "infer",  "clear",  "barrier"};
static_assert(std::size(kCategories) == kCategoryCount);

/// Returns the key of a list's entry: in PyTorch's lists, overloads of an op
/// share its rule, as "add.Tensor" does that of "add". A dialect's op, such as
/// "own.softcap", is no overload.
std::string keyOf(StringRef system, StringRef name, const KnownNames &known) {
  StringRef base = name.split('.').first;
  bool isOverload = system == "torch" && is_contained(known.others, base) &&
                    !is_contained(known.ops, name.split('@').first);
  return (isOverload ? base : name).str();
}
} // namespace

StringRef mp::nameOf(Category category) {
  return kCategories[unsigned(category)];
}

std::optional<Category> mp::parseCategory(StringRef name) {
  const auto *found = llvm::find(kCategories, name);
  if (found == std::end(kCategories))
    return std::nullopt;
  return Category(found - std::begin(kCategories));
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::vector<std::string> Policy::names() {
  std::vector<std::string> all;
  for (const EmbeddedPolicy &policy : kPolicies)
    all.push_back(policy.name.str());
  return all;
}

Expected<Policy> Policy::load(StringRef name) {
  for (const EmbeddedPolicy &policy : kPolicies)
    if (policy.name == name)
      return parse(policy.text, name);
  if (name.ends_with(".json")) {
    auto buffer = MemoryBuffer::getFile(name);
    if (!buffer)
      return createStringError("cannot read policy " + name + ": " +
                               buffer.getError().message());
    return parse((*buffer)->getBuffer(), name);
  }
  auto nearest = nearestNames(name, names());
  return createStringError(
      "unknown autocast policy \"" + name + "\"" +
      (nearest.empty() ? "" : "; did you mean " + nearest.front() + "?") +
      (nearest.empty() ? ", expected " : " There are ") + join(names(), ", ") +
      " and files that end in .json");
}

Expected<Policy> Policy::parse(StringRef text, StringRef source) {
  auto fail = [&](const Twine &message) {
    return createStringError("policy " + source + ": " + message);
  };
  // llvm::json recurses, and would overflow the stack.
  constexpr size_t most = 256;
  if (text.count('[') + text.count('{') > most)
    return fail("has more than " + Twine(most) + " lists");
  auto value = json::parse(text);
  if (!value)
    return fail(toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return fail("expected an object of lists");
  return read(*object, source);
}

Expected<Policy> Policy::read(const json::Object &object, StringRef source) {
  auto fail = [&](const Twine &message) {
    return createStringError("policy " + source + ": " + message);
  };
  Policy policy;
  if (auto base = object.getString("extends")) {
    // Files are read recursively, from the base up.
    constexpr unsigned most = 16;
    static thread_local unsigned depth = 0;
    if (depth == most)
      return fail("extends itself, or more than " + Twine(most) +
                  " others one after the other");
    ++depth;
    auto loaded = load(*base);
    --depth;
    if (!loaded)
      return fail(toString(loaded.takeError()));
    policy = std::move(*loaded);
  } else if (!object.getString("system")) {
    return fail("expected \"extends\", a policy, or \"system\", whose names "
                "the lists use: torch, tensorflow, relay, relax or class");
  }
  policy.title = object.getString("name").value_or(source).str();
  constexpr StringRef systems[] = {"torch", "tensorflow", "relay", "relax",
                                   "class"};
  if (auto system = object.getString("system")) {
    if (object.getString("extends") && *system != policy.vocabulary)
      return fail("extends a policy whose names are of system \"" +
                  policy.vocabulary + "\", and says \"" + *system +
                  "\"; leave \"system\" out");
    policy.vocabulary = system->str();
  }
  if (!is_contained(systems, policy.vocabulary))
    return fail("system \"" + policy.vocabulary + "\", expected " +
                join(ArrayRef(systems), ", "));
  if (Error error = policy.readPolicy(object))
    return fail(toString(std::move(error)));
  return policy;
}

constexpr StringRef kLowTypes[] = {"f16", "bf16", "tf32"};

Error Policy::readPolicy(const json::Object &object) {
  ownLayers = layers.size();
  if (Error error = readLists(object, /*type=*/""))
    return error;
  for (StringRef type : kLowTypes)
    if (const json::Value *value = object.get(type)) {
      const json::Object *lists = value->getAsObject();
      if (!lists)
        return createStringError("\"" + type + "\" is not an object of lists");
      for (const auto &[key, list] : *lists)
        if (!parseCategory(key))
          return createStringError("\"" + StringRef(key) + "\" under \"" +
                                   type + "\" is not a category; there are " +
                                   join(ArrayRef(kCategories), ", "));
      if (Error error = readLists(*lists, type))
        return error;
    }
  auto other = object.getString("unlisted");
  if (other)
    if (auto category = parseCategory(*other))
      otherwise = *category;
  if (Error error = joinErrors(readStorage(object), readSettings(object)))
    return error;
  bool listsNone = all_of(drop_begin(layers, ownLayers),
                          [](const Layer &one) { return one.names.empty(); });
  bool saysMore = any_of(ArrayRef<StringRef>{"storage", "outputs", "out_dtype"},
                         [&](StringRef key) { return object.get(key); });
  if (listsNone && !other && !saysMore)
    return createStringError("lists no op");
  return Error::success();
}

Error Policy::readLists(const json::Object &object, StringRef type) {
  StringMap<StringRef> lists; // the list of each name
  Layer &layer = layers.emplace_back(Layer{type.str(), {}});
  for (StringRef field : kCategories) {
    const json::Value *value = object.get(field);
    const json::Array *list = value ? value->getAsArray() : nullptr;
    if (value && !list)
      return createStringError("\"" + field + "\" is not a list of names");
    for (const json::Value &entry : list ? *list : json::Array()) {
      auto op = entry.getAsString();
      if (!op)
        return createStringError("\"" + field + "\" holds what is not a name");
      auto [it, isNew] = lists.try_emplace(*op, field);
      if (!isNew)
        return createStringError("\"" + *op + "\" is listed under " +
                                 it->second + " and under " + field);
      layer.names[*op] = *parseCategory(field);
    }
  }
  return Error::success();
}

Error Policy::readStorage(const json::Object &object) {
  const json::Value *value = object.get("storage");
  if (!value)
    return Error::success();
  auto fail = [] {
    return createStringError(
        "\"storage\" is {\"forward\": an 8-bit type, \"backward\": another, "
        "\"amax_history\": steps, \"margin\": an exponent}; the types are "
        "f8E4M3FN and f8E5M2");
  };
  const json::Object *fields = value->getAsObject();
  if (!fields)
    return fail();
  Storage storage;
  for (const auto &[key, field] : *fields) {
    auto text = field.getAsString();
    auto number = field.getAsInteger();
    bool isType = text && (*text == "f8E4M3FN" || *text == "f8E5M2");
    if (StringRef(key) == "forward" && isType)
      storage.forward = text->str();
    else if (StringRef(key) == "backward" && isType)
      storage.backward = text->str();
    else if (StringRef(key) == "amax_history" && number && *number > 0 &&
             *number <= 65536)
      storage.amaxHistory = *number;
    else if (StringRef(key) == "margin" && number && std::abs(*number) <= 64)
      storage.margin = *number;
    else
      return fail();
  }
  if (storage.forward.empty() || storage.backward.empty())
    return fail();
  stored = std::move(storage);
  return Error::success();
}

Error Policy::readSettings(const json::Object &object) {
  std::vector<std::string> unknown;
  for (const auto &[key, value] : object) {
    StringRef field = key;
    StringRef text = value.getAsString().value_or("");
    if (is_contained({"about", "name", "extends", "system"}, field)) {
      if (!value.getAsString())
        return createStringError("\"" + field + "\" is not a string");
      if (field == "about")
        description = text.str();
      continue;
    }
    if (field == "mode" && (text == "eager" || text == "propagate"))
      defaultMode = text.str();
    else if (field == "outputs" && text == "f32")
      returned = Outputs::Wide;
    else if (field == "outputs" && text == "declared")
      returned = Outputs::Declared;
    else if (field == "out_dtype" && text == "f32")
      sums = true;
    else if (field == "dtypes" && value.getAsArray())
      for (const json::Value &type : *value.getAsArray())
        if (is_contained(kLowTypes, type.getAsString().value_or("")))
          types.push_back(type.getAsString()->str());
        else
          return createStringError(
              "\"dtypes\" is a list of f16, bf16 and tf32");
    else if (!parseCategory(field) && field != "storage" &&
             !is_contained(kLowTypes, field) &&
             !(field == "unlisted" && parseCategory(text)))
      unknown.push_back(field.str());
  }
  if (unknown.empty())
    return Error::success();
  llvm::sort(unknown);
  return createStringError(
      "\"" + unknown.front() +
      "\" is not understood; there are name, about, extends, system, dtypes, "
      "mode (eager or propagate), outputs (f32 or declared), out_dtype (f32), "
      "unlisted (a category), storage, f16, bf16 and tf32 (lists for one "
      "type), and lists of names "
      "under " +
      join(ArrayRef(kCategories), ", "));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::vector<mlir::RegisteredOperationName>
mp::decidedOps(mlir::MLIRContext *context) {
  std::vector<mlir::RegisteredOperationName> ops;
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations())
    if (op.getInterface<AutocastOpInterface>())
      ops.push_back(op);
  llvm::sort(ops, [](auto one, auto other) {
    return one.getStringRef() < other.getStringRef();
  });
  return ops;
}

StringRef mp::namesIn(StringRef vocabulary,
                      const AutocastOpInterface::Concept &facts) {
  if (vocabulary != "class")
    return facts.getAutocastName(vocabulary);
  NumericClass kind = facts.getNumericClass();
  return kind == NumericClass::none ? "" : stringifyNumericClass(kind);
}

std::string mp::className(NumericClass kind) {
  return ("class:" + stringifyNumericClass(kind)).str();
}

KnownNames mp::knownNames(mlir::MLIRContext *context, StringRef system) {
  KnownNames known;
  for (mlir::RegisteredOperationName op : decidedOps(context)) {
    auto *facts = op.getInterface<AutocastOpInterface>();
    known.ops.push_back(op.getStringRef().str());
    SmallVector<StringRef> parts;
    namesIn(system, *facts).split(parts, '+', -1, false);
    for (StringRef part : parts)
      known.others.push_back(part.str());
    if (facts->getNumericClass() != NumericClass::none)
      known.others.push_back(className(facts->getNumericClass()));
  }
  return known;
}

std::vector<std::string> Policy::listed() const {
  std::vector<std::string> all;
  for (const Layer &layer : layers)
    for (const auto &entry : layer.names)
      all.push_back(entry.getKey().str());
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  return all;
}

Error Policy::unknownName(StringRef name, const KnownNames &known) const {
  std::vector<std::string> all = known.ops;
  llvm::append_range(all, known.others);
  llvm::append_range(all, listed());
  llvm::erase(all, name);
  llvm::erase_if(all, [](StringRef one) { return one.contains('@'); });
  auto nearest = nearestNames(name.split('@').first, all);
  return createStringError(
      "unknown op \"" + name + "\" in a list of ops" +
      (nearest.empty() ? "" : "; did you mean " + join(nearest, ", ") + "?"));
}

std::vector<std::string> Policy::listedTypes() const {
  std::vector<std::string> types;
  for (StringRef type : kLowTypes)
    if (any_of(layers, [&](const Layer &one) { return one.type == type; }))
      types.push_back(type.str());
  return types;
}

/// Whether `known` has the name, or that of the op before a place. The names of
/// systems have no places.
static bool isKnown(StringRef name, const KnownNames &known) {
  auto [op, place] = name.split('@');
  if (op.size() == name.size())
    return is_contained(known.ops, name) || is_contained(known.others, name);
  return !place.empty() && is_contained(known.ops, op);
}

Error Policy::resolveNames(mlir::MLIRContext *context) {
  KnownNames known = knownNames(context, vocabulary);
  for (Layer &layer : layers) {
    StringMap<Category> keys;
    for (const auto &entry : layer.names)
      keys[keyOf(vocabulary, entry.getKey(), known)] = entry.second;
    layer.names = std::move(keys);
  }
  for (const Layer &own : drop_begin(layers, ownLayers)) {
    std::vector<std::string> unknown;
    for (const auto &entry : own.names)
      if (!isKnown(entry.getKey(), known))
        unknown.push_back(entry.getKey().str());
    if (!unknown.empty())
      return unknownName(*llvm::min_element(unknown), known);
    // An op may be listed under two names.
    for (mlir::RegisteredOperationName op : decidedOps(context)) {
      auto *facts = op.getInterface<AutocastOpInterface>();
      StringRef name = op.getStringRef();
      std::string other = namesIn(vocabulary, *facts).str();
      auto one = own.names.find(name), two = own.names.find(other);
      if (one != own.names.end() && two != own.names.end() &&
          one->second != two->second)
        return createStringError("\"" + name + "\" is listed under " +
                                 nameOf(one->second) + ", and under " +
                                 nameOf(two->second) + " as \"" + other + "\"");
    }
  }
  return Error::success();
}

Error Policy::move(ArrayRef<std::string> ops, Category category,
                   const KnownNames &known) {
  KnownNames all = known;
  llvm::append_range(all.others, listed());
  layers.emplace_back();
  for (const std::string &op : ops) {
    std::string name = keyOf(vocabulary, op, all);
    if (!isKnown(name, all))
      return unknownName(op, known);
    layers.back().names[name] = category;
  }
  return Error::success();
}
