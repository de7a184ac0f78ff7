//===- Variables.cpp - the state variables of a Session -------------------===//
#include "runtime/Variables.h"
#include "runtime/Memory.h"
#include "support/Error.h"
#include "support/Spelling.h"

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

llvm::Expected<std::vector<Variable>>
VariableNames::fresh(const Program &program) const {
  std::vector<Variable> fresh;
  llvm::StringMap<const Variable *> known;
  for (const Variable &variable : declared)
    known[variable.name] = &variable;
  for (const Variable &variable : program.variables) {
    auto [place, isNew] = known.try_emplace(variable.name, &variable);
    const Variable &other = *place->second;
    if (isNew)
      fresh.push_back(variable);
    else if (other.kind != variable.kind || other.type != variable.type ||
             other.init != variable.init ||
             other.dimsInFiles != variable.dimsInFiles)
      return disagree(other, variable);
  }
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
