//===- InputCheck.cpp - checks the inputs of a run ------------------------===//
#include "runtime/InputCheck.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include <cstring>

using namespace llvm;

namespace mp {

/// Searches whole blocks without a branch in between, so that the search is
/// vectorized; a hit is rare.
template <typename T>
static std::optional<int64_t> firstOutside(const char *bytes, int64_t count,
                                           int64_t low, int64_t high,
                                           int64_t exempt) {
  constexpr int64_t block = 4096;
  auto isOutside = [&](int64_t index) {
    T number; // may be unaligned in `bytes`
    std::memcpy(&number, bytes + index * sizeof(T), sizeof(T));
    auto value = static_cast<int64_t>(number);
    return ((value < low) | (value >= high)) & (value != exempt);
  };
  for (int64_t begin = 0; begin < count; begin += block) {
    int64_t end = std::min(begin + block, count);
    bool any = false;
    for (int64_t i = begin; i < end; ++i)
      any |= isOutside(i);
    for (int64_t i = begin; any && i < end; ++i)
      if (isOutside(i))
        return i;
  }
  return std::nullopt;
}

std::optional<int64_t> firstOutside(const Input &input,
                                    const TensorView &view) {
  if (!input.range)
    return std::nullopt;
  auto [low, high] = *input.range;
  // Without an exempt value, exempt one that is allowed anyway.
  int64_t exempt = input.exempt.value_or(low);
  auto find = [&]<typename T>(T) {
    return firstOutside<T>(view.bytes().data(), view.size(), low, high, exempt);
  };
  switch (view.element()) {
  case ElementType::I1:
  case ElementType::U8:
    return find(uint8_t());
  case ElementType::I8:
    return find(int8_t());
  case ElementType::I16:
    return find(int16_t());
  case ElementType::U16:
    return find(uint16_t());
  case ElementType::I32:
    return find(int32_t());
  case ElementType::U32:
    return find(uint32_t());
  case ElementType::I64:
    return find(int64_t());
  default:
    return std::nullopt;
  }
}

std::string rangeText(const Input &input) {
  auto [low, high] = *input.range;
  return formatv("{0} to {1}{2}", low, high - 1,
                 input.exempt ? formatv(" or {0}", *input.exempt).str() : "");
}

/// "'label'", or "input 1" if it has no name.
static std::string shown(const Entry &entry, size_t index) {
  const std::string &name = entry.inputs[index].name;
  return name.empty() ? "input " + std::to_string(index)
                      : "input '" + name + "'";
}

static Error wrongNumber(const Entry &entry, size_t given) {
  std::string names;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    names += (i ? ", " : ": ") + shown(entry, i) + " of " +
             entry.inputs[i].type.str();
  return makeError("'{0}' got {1} inputs, expected {2}{3}", entry.function,
                   given, entry.inputs.size(), names);
}

Error checkSizes(const Entry &entry, ArrayRef<TensorView> inputs) {
  if (inputs.size() != entry.inputs.size())
    return wrongNumber(entry, inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input &input = entry.inputs[i];
    if (inputs[i].element() != input.type.element)
      return makeError("'{0}': {1} has {2} elements, expected {3}{4}",
                       entry.function, shown(entry, i),
                       elementTypeName(inputs[i].element()), input.type.str(),
                       at(input.location));
    if (inputs[i].bytes().size() != input.type.bytes())
      return makeError("'{0}': {1} has {2} elements of {3} ({4} bytes), "
                       "expected {5} of {6} ({7} bytes){8}",
                       entry.function, shown(entry, i), inputs[i].size(),
                       elementTypeName(input.type.element),
                       inputs[i].bytes().size(), input.type.elements(),
                       input.type.str(), input.type.bytes(),
                       at(input.location));
  }
  return Error::success();
}

Error checkRanges(const Entry &entry, ArrayRef<TensorView> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input &input = entry.inputs[i];
    std::optional<int64_t> found = firstOutside(input, inputs[i]);
    if (!found)
      continue;
    ElementType type = input.type.element;
    return makeError(
        "'{0}': {1} has {2} as element {3}, expected {4}{5}", entry.function,
        shown(entry, i),
        loadInteger(type, inputs[i].bytes().data() + *found * byteWidth(type)),
        *found, rangeText(input), at(input.location));
  }
  return Error::success();
}

} // namespace mp
