//===- JsonField.cpp - values of a JSON file and their places -------------===//
#include "runtime/text/JsonField.h"
#include "support/Error.h"
#include <cmath>

using namespace llvm;

namespace mp::tokenizers {

bool JsonField::fail(const Twine &message) const {
  if (problem->empty())
    *problem = (Twine(printableName(place)) + ": " + message).str();
  return true;
}

bool JsonField::expected(const Twine &what) const {
  if (!value)
    return fail("expected " + what + ", found none");
  std::string text;
  raw_string_ostream(text) << *value;
  return fail("expected " + what + ", found " + printableHead(text));
}

bool JsonField::isNoObject() const {
  return (!value || !value->getAsObject()) && expected("an object");
}

JsonField JsonField::operator[](StringRef name) const {
  const json::Object *object = value ? value->getAsObject() : nullptr;
  return {object ? object->get(name) : nullptr,
          place.empty() ? name.str() : place + "." + name.str(), *problem};
}

bool JsonField::members(
    function_ref<bool(StringRef, const JsonField &)> each) const {
  if (isNoObject())
    return true;
  for (const auto &[key, member] : *value->getAsObject())
    if (each(key, {&member, place + "." + key.str(), *problem}))
      return true;
  return false;
}

bool JsonField::elements(function_ref<bool(const JsonField &)> each) const {
  const json::Array *array = value ? value->getAsArray() : nullptr;
  if (!array)
    return expected("an array");
  for (size_t i = 0; i < array->size(); ++i)
    if (each({&(*array)[i], place + "[" + std::to_string(i) + "]", *problem}))
      return true;
  return false;
}

bool JsonField::read(std::string &text) const {
  auto found = value ? value->getAsString() : std::nullopt;
  if (!found)
    return expected("a string");
  text = found->str();
  return false;
}

bool JsonField::read(uint64_t &number) const {
  auto found = value ? value->getAsUINT64() : std::nullopt;
  if (!found)
    return expected("a whole number from 0 on");
  number = *found;
  return false;
}

bool JsonField::read(double &number) const {
  auto found = value ? value->getAsNumber() : std::nullopt;
  if (!found || !std::isfinite(*found))
    return expected("a number");
  number = *found;
  return false;
}

bool JsonField::read(bool &flag) const {
  auto found = value ? value->getAsBoolean() : std::nullopt;
  if (!found)
    return expected("true or false");
  flag = *found;
  return false;
}

} // namespace mp::tokenizers
