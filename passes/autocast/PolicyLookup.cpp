//===- PolicyLookup.cpp - from a policy's name to a policy ----------------===//
#include "passes/autocast/PolicyLookup.h"
#include "dialect/ops/Recipe.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mp;

/// Returns an attribute of mp.policy as a file would have it.
static llvm::json::Value asJson(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getInt();
  if (auto storage = dyn_cast<StorageAttr>(attribute))
    return llvm::json::Object{{"forward", typeName(storage.getForward())},
                              {"backward", typeName(storage.getBackward())},
                              {"amax_history", storage.getAmaxHistory()},
                              {"margin", storage.getMargin()}};
  if (auto list = dyn_cast<ArrayAttr>(attribute))
    return llvm::json::Array(llvm::map_range(list, asJson));
  llvm::json::Object object;
  if (auto fields = dyn_cast<DictionaryAttr>(attribute))
    for (NamedAttribute field : fields)
      object[field.getName().strref()] = asJson(field.getValue());
  return object;
}

static llvm::json::Object asObject(PolicyOp op) {
  llvm::json::Object object;
  for (NamedAttribute attr : op->getAttrs())
    if (attr.getName() != op.getSymNameAttrName())
      object[attr.getName().strref()] = asJson(attr.getValue());
  return object;
}

/// Returns a user's policy, with its names checked.
static FailureOr<Policy> checked(Operation *at, llvm::Expected<Policy> policy) {
  if (!policy)
    return at->emitOpError() << toString(policy.takeError());
  if (llvm::Error error = policy->resolveNames(at->getContext()))
    return at->emitOpError()
           << "policy " << policy->name() << ": " << toString(std::move(error));
  return std::move(*policy);
}

/// Reads jmp's "p=f32,c=f16,o=f32": the types of parameters, of computation, of
/// outputs.
static llvm::Expected<Policy> readJmp(StringRef text, StringRef low) {
  StringRef parameters = "f32", compute = low, outputs = "f32";
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  auto fail = [&](const Twine &message) {
    return llvm::createStringError("policy jmp:" + text + ": " + message);
  };
  for (StringRef part : parts) {
    auto [key, value] = part.trim().split('=');
    StringRef *field = key == "p"   ? &parameters
                       : key == "c" ? &compute
                       : key == "o" ? &outputs
                                    : nullptr;
    if (!field || value.empty())
      return fail("expected p, c and o, each with a type, such as "
                  "p=f32,c=f16,o=f32; found \"" +
                  part + "\"");
    *field = value;
  }
  if (compute != low)
    return fail("computes in " + compute + ", and the recipe casts to " + low);
  if (parameters != "f32")
    return fail("parameters keep the type that they are declared with: declare "
                "them " +
                parameters + ", and write p=f32");
  if (outputs != "f32" && outputs != low)
    return fail("outputs are f32 or " + low + ", not " + outputs);
  llvm::json::Object object{{"name", "jmp:" + text.str()},
                            {"system", "class"},
                            {"unlisted", "allow"}};
  if (outputs == "f32")
    object["outputs"] = "f32";
  return Policy::read(object, "jmp");
}

FailureOr<Policy> mp::lookUpPolicy(Operation *from, StringRef name,
                                   FloatType low) {
  FailureOr<Policy> policy = failure();
  std::string type = typeName(low);
  if (name.consume_front("@")) {
    auto op = SymbolTable::lookupNearestSymbolFrom<PolicyOp>(
        from, StringAttr::get(from->getContext(), name));
    if (!op)
      return from->emitOpError() << "has no mp.policy @" << name;
    policy = checked(op, Policy::read(asObject(op), ("@" + name).str()));
  } else if (name.consume_front("jmp:")) {
    policy = checked(from, readJmp(name, type));
  } else if (name.ends_with(".json")) {
    policy = checked(from, Policy::load(name));
  } else {
    auto preset = Policy::load(name);
    if (!preset)
      return from->emitOpError() << toString(preset.takeError());
    policy = std::move(*preset);
  }
  if (failed(policy))
    return failure();
  ArrayRef<std::string> types = policy->dtypes();
  if (!types.empty() && !llvm::is_contained(types, type))
    return from->emitOpError()
           << "autocast to " << type << " by policy " << policy->name()
           << ", whose lists are for " << llvm::join(types, ", ");
  policy->chooseType(type);
  return policy;
}
