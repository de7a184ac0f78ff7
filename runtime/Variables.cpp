//===- Variables.cpp - the state variables of a Session -------------------===//
#include "runtime/Variables.h"
#include "program/Names.h"
#include "runtime/Memory.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"

using namespace mp;

uint64_t mp::bytesOf(llvm::ArrayRef<Variable> variables) {
  uint64_t bytes = 0;
  for (const Variable &variable : variables)
    bytes += alignToTensor(variable.type.bytes());
  return bytes;
}

static std::string describe(const Variable &variable) {
  return variableKindName(variable.kind).str() + " of type " +
         variable.type.str();
}

static llvm::Error disagree(const Variable &known, const Variable &other) {
  std::string at = other.location.str();
  std::string what = describe(known), instead = describe(other);
  if (known.dimsInFiles != other.dimsInFiles)
    instead += " with another order of dimensions in files";
  else if (what == instead)
    instead += " with another initializer";
  return llvm::createStringError((at.empty() ? "" : at + ": ") + "variable '" +
                                 other.name + "' is a " + instead +
                                 ", but was loaded as a " + what);
}

/// Calls `see` with every place that an entry point touches.
static void forEachPlace(const Entry &entry,
                         llvm::function_ref<void(const BufferRef &)> see) {
  for (const Step &step : entry.steps) {
    if (const auto *copy = std::get_if<Copy>(&step)) {
      see(copy->to);
      see(copy->from);
      continue;
    }
    if (const auto *launch = std::get_if<Launch>(&step))
      llvm::for_each(launch->args, see);
    else if (const auto *call = std::get_if<Call>(&step))
      llvm::for_each(call->args, see);
  }
  for (const Result &result : entry.results)
    see(result.ref);
}

/// Fails if the program uses the variable, which it declares as a whole while
/// the session has a part.
static llvm::Error checkUnused(const Program &program, size_t variable) {
  const Entry *user = nullptr;
  for (const Entry &entry : program.entries)
    forEachPlace(entry, [&](const BufferRef &place) {
      if (place.space == BufferRef::Space::Variable && place.index == variable)
        user = &entry;
    });
  if (!user)
    return llvm::Error::success();
  return makeError("'{0}' needs the whole of variable '{1}', of which each "
                   "rank has a part: train without dividing the state of the "
                   "optimizer",
                   user->function, program.variables[variable].name);
}

static bool isDerived(const Variable &variable) {
  return variable.kind == VariableKind::Derived;
}

llvm::Expected<std::vector<Variable>>
VariableNames::fresh(Program &program) const {
  std::vector<Variable> fresh;
  llvm::StringMap<const Variable *> known;
  for (const Variable &variable : declared)
    known[variable.name] = &variable;
  std::vector<size_t> divided;
  for (auto [index, variable] : llvm::enumerate(program.variables)) {
    auto [place, isNew] = known.try_emplace(variable.name, &variable);
    const Variable &other = *place->second;
    if (isNew)
      fresh.push_back(variable);
    else if (other.kind != variable.kind || other.init != variable.init ||
             other.wholeType() != variable.wholeType() ||
             (variable.whole && other.type != variable.type) ||
             other.dimsInFiles != variable.dimsInFiles)
      return disagree(other, variable);
    else if (other.type != variable.type)
      divided.push_back(index);
  }
  if (llvm::none_of(fresh, isDerived))
    llvm::erase_if(program.entries, [](const Entry &entry) {
      return entry.function == kDeriveEntry;
    });
  for (size_t index : divided)
    if (llvm::Error error = checkUnused(program, index))
      return std::move(error);
  return fresh;
}

llvm::Expected<size_t> VariableNames::find(llvm::StringRef name,
                                           uint64_t bytes) const {
  auto found = indices.find(name);
  if (found == indices.end()) {
    std::vector<std::string> names;
    for (const Variable &variable : declared)
      names.push_back(variable.name);
    return makeError("no variable '{0}'{1}", name, suggest(name, names));
  }
  const Variable &variable = declared[found->second];
  if (variable.type.bytes() != bytes)
    return makeError("variable '{0}' of type {1} takes {2} bytes, not {3}",
                     name, variable.type.str(), variable.type.bytes(), bytes);
  return found->second;
}
