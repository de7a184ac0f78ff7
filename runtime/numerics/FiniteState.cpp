//===- FiniteState.cpp - variables that are not finite --------------------===//
#include "runtime/numerics/FiniteState.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace llvm;

namespace mp {

/// Returns whether an element has all of the bits in `exponent`, as infinities
/// and NaN do. Simple enough to become vector code: it reads all of a model.
template <typename Bits>
static bool anyHas(ArrayRef<char> bytes, Bits exponent) {
  bool any = false;
  for (size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits element;
    std::memcpy(&element, bytes.data() + i, sizeof element);
    any |= (element & exponent) == exponent;
  }
  return any;
}

bool allFinite(const TensorType &type, ArrayRef<char> bytes) {
  switch (type.element) {
  case ElementType::F64:
    return !anyHas<uint64_t>(bytes, 0x7ff0000000000000);
  case ElementType::F32:
    return !anyHas<uint32_t>(bytes, 0x7f800000);
  case ElementType::F16:
    return !anyHas<uint16_t>(bytes, 0x7c00);
  case ElementType::BF16:
    return !anyHas<uint16_t>(bytes, 0x7f80);
  case ElementType::F8E5M2:
    return !anyHas<uint8_t>(bytes, 0x7c);
  case ElementType::F8E4M3FN: // has no infinity, and one NaN of each sign
    return !anyHas<uint8_t>(bytes, 0x7f);
  case ElementType::I1:
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::I32:
  case ElementType::U32:
  case ElementType::I64:
    return true;
  }
  llvm_unreachable("all element types covered");
}

static bool isWatched(const Variable &variable) {
  return variable.kind == VariableKind::Parameter ||
         variable.kind == VariableKind::Buffer ||
         variable.kind == VariableKind::Slot;
}

/// Calls `found` with each watched variable that is not finite, until it
/// returns false.
static Error visitBroken(Session &session,
                         function_ref<bool(const Variable &)> found) {
  for (const Variable &variable : session.variables()) {
    if (!isWatched(variable) || !isFloat(variable.type.element))
      continue;
    bool isFinite = true;
    if (Error error = session.view(variable, [&](ArrayRef<char> bytes) {
          isFinite = allFinite(variable.type, bytes);
        }))
      return error;
    if (!isFinite && !found(variable))
      break;
  }
  return Error::success();
}

Error FiniteState::begin(Session &session, bool isResumed) {
  exempt.clear();
  return visitBroken(session, [&](const Variable &variable) {
    if (!isResumed || variable.kind == VariableKind::Buffer)
      exempt.insert(variable.name);
    return true;
  });
}

Expected<std::string> FiniteState::firstBroken(Session &session) const {
  std::string first;
  Error error = visitBroken(session, [&](const Variable &variable) {
    if (exempt.contains(variable.name))
      return true;
    first =
        formatv("{0} '{1}'", variableKindName(variable.kind), variable.name);
    return false;
  });
  if (error)
    return std::move(error);
  return first;
}

} // namespace mp
