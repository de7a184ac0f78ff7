//===- Protobuf.cpp - reads messages of Protocol Buffers ------------------===//
#include "runtime/text/Protobuf.h"
#include "support/Error.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <cmath>

using namespace llvm;

namespace mp::tokenizers {

/// Takes a number of seven bits a byte, the lowest first. Returns none if the
/// bytes end before it does, or it has more than 64 bits.
static std::optional<uint64_t> takeVarint(StringRef &rest) {
  uint64_t value = 0;
  for (size_t i = 0; i < rest.size() && i < 10; ++i) {
    uint64_t byte = static_cast<unsigned char>(rest[i]);
    if (i == 9 && byte > 1)
      return std::nullopt;
    value |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      rest = rest.drop_front(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

bool ProtobufMessage::fail(const Twine &message, StringRef field) const {
  if (!problem->empty())
    return true;
  std::string place = name.str();
  if (index)
    place += "[" + std::to_string(*index) + "]";
  if (!field.empty())
    place += (place.empty() ? "" : ".") + field.str();
  *problem = (place.empty() ? message : Twine(place) + ": " + message).str();
  return true;
}

bool ProtobufMessage::takeField(StringRef &rest, ProtobufField &field) const {
  size_t begin = bytes.size() - rest.size();
  auto failHere = [&](StringRef what) {
    return fail("byte " + Twine(begin) + " of " + Twine(bytes.size()) +
                " begins " + what);
  };
  using Kind = ProtobufField::Kind;
  std::optional<uint64_t> key = takeVarint(rest);
  if (!key || *key >> 3 == 0 || *key >> 3 >= (1 << 29))
    return failHere("no field");
  field.number = *key >> 3;
  field.kind = static_cast<Kind>(*key & 7);
  if (field.kind == Kind::Varint || field.kind == Kind::Bytes) {
    std::optional<uint64_t> value = takeVarint(rest);
    if (!value)
      return failHere("a field without a number");
    field.value = *value;
    if (field.kind == Kind::Varint)
      return false;
  } else if (field.kind == Kind::Fixed32 || field.kind == Kind::Fixed64) {
    field.value = field.kind == Kind::Fixed32 ? 4 : 8;
  } else {
    return failHere("a field without a value");
  }
  if (field.value > rest.size())
    return failHere("a field of " + std::to_string(field.value) +
                    " bytes, more than are left");
  field.bytes = rest.take_front(field.value);
  rest = rest.drop_front(field.value);
  return false;
}

bool ProtobufMessage::fields(
    function_ref<bool(const ProtobufField &)> each) const {
  for (StringRef rest = bytes; !rest.empty();) {
    ProtobufField field(*this);
    if (takeField(rest, field) || each(field))
      return true;
  }
  return false;
}

bool ProtobufField::read(StringRef name, uint64_t &to) const {
  if (kind != Kind::Varint)
    return fail(name, "expected a number");
  to = value;
  return false;
}

bool ProtobufField::read(StringRef name, bool &to) const {
  if (kind != Kind::Varint || value > 1)
    return fail(name, "expected true or false");
  to = value;
  return false;
}

bool ProtobufField::read(StringRef name, float &to) const {
  if (kind != Kind::Fixed32)
    return fail(name, "expected a number of 32 bits");
  to = bit_cast<float>(support::endian::read32le(bytes.data()));
  return !std::isfinite(to) && fail(name, "expected a finite number");
}

bool ProtobufField::read(StringRef name, StringRef &to) const {
  if (kind != Kind::Bytes)
    return fail(name, "expected a text or a message");
  to = bytes;
  return false;
}

} // namespace mp::tokenizers
