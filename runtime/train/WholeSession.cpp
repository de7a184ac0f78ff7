//===- WholeSession.cpp - a session's state as files hold it --------------===//
#include "runtime/train/WholeSession.h"
#include "runtime/Initialize.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp {

WholeSession::WholeSession(Session &parts, Communicator *ranks)
    : parts(parts), ranks(ranks), wholes(parts.variables()) {
  for (Variable &variable : wholes)
    variable.type = variable.wholeType();
}

/// Returns the session's variable, if it is a part of a tensor.
const Variable *WholeSession::partOf(StringRef name) const {
  for (const Variable &variable : parts.variables())
    if (variable.name == name)
      return variable.whole ? &variable : nullptr;
  return nullptr;
}

Error WholeSession::gather() {
  for (const Variable &variable : parts.variables())
    if (Error error = gather(variable))
      return error;
  return Error::success();
}

Error WholeSession::gather(const Variable &variable) {
  if (!variable.whole)
    return Error::success();
  std::string own(variable.type.bytes(), '\0');
  if (Error error = parts.read(variable.name, {own.data(), own.size()}))
    return error;
  std::string &all = gathered[variable.name];
  if (!ranks) {
    all = std::move(own);
    return Error::success();
  }
  all.resize(own.size() * ranks->size());
  return run(*ranks,
             {.kind = Collective::Kind::AllGather,
              .element = ElementType::U8,
              .elements = {static_cast<int64_t>(own.size())}},
             {own.data()}, {all.data()});
}

Error WholeSession::load(Program) {
  return makeError("programs are loaded into the session itself");
}
Error WholeSession::initialize(uint64_t) {
  return makeError("variables are initialized in the session itself");
}

Error WholeSession::view(const Variable &variable,
                         function_ref<void(ArrayRef<char>)> see) {
  auto found = gathered.find(variable.name);
  if (found == gathered.end())
    return parts.view(variable, see);
  see(ArrayRef(found->second.data(), variable.type.bytes()));
  return Error::success();
}

Error WholeSession::read(StringRef name, MutableArrayRef<char> bytes) {
  auto found = gathered.find(name);
  if (found == gathered.end())
    return parts.read(name, bytes);
  if (bytes.size() > found->second.size())
    return makeError("'{0}' has no {1} bytes", name, bytes.size());
  copy(ArrayRef(found->second.data(), bytes.size()), bytes.begin());
  return Error::success();
}

Error WholeSession::write(StringRef name, ArrayRef<char> bytes) {
  const Variable *variable = partOf(name);
  if (!variable)
    return parts.write(name, bytes);
  if (bytes.size() != variable->whole->bytes())
    return makeError("'{0}' has {1} bytes, not {2}", name,
                     variable->whole->bytes(), bytes.size());
  std::vector<char> own(variable->type.bytes());
  copyPart(bytes, ranks ? ranks->rank() : 0, own);
  return parts.write(name, own);
}

} // namespace mp
