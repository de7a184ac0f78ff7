//===- SafetensorsHeader.cpp - reads the header of a safetensors file -----===//
#include "runtime/data/SafetensorsHeader.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace mp {

/// No tool writes as many metadata, each of which is kept as two strings.
constexpr size_t kMostMetadata = 10'000;

/// The bytes of the shortest entry of a tensor:
/// "":{"dtype":"U8","shape":[],"data_offsets":[0,1]}
constexpr size_t kShortestEntry = 48;

SafetensorsHeader::SafetensorsHeader(std::shared_ptr<const MappedFile> owner,
                                     StringRef header, StringRef data)
    : json("") {
  table.owner = std::move(owner);
  table.text = std::make_shared<const std::string>(header);
  table.header = *table.text;
  table.data = data;
  json = JsonReader(table.header);
}

std::string SafetensorsHeader::read() {
  size_t wrong = 0;
  if (!json::isUTF8(table.header, &wrong))
    return formatv("the header is not UTF-8 from byte {0} on", wrong);
  // A vector that grows would hold the entries twice.
  table.entries.reserve(table.header.size() / kShortestEntry + 1);
  if (document())
    return problem.empty()
               ? "the header is not one of safetensors, " + json.message()
               : problem;
  std::string uncovered = checkCover();
  if (uncovered.empty())
    return "";
  std::string twice = finish(); // explains it better
  return twice.empty() ? uncovered : twice;
}

bool SafetensorsHeader::document() {
  return json.object([&](const JsonReader::String &name) {
    std::string storage;
    return name.plain(storage) == "__metadata__" ? readMetadata()
                                                 : tensor(name);
  }) || json.end();
}

bool SafetensorsHeader::readMetadata() {
  if (hasMetadata)
    return json.fail("__metadata__ is there twice");
  hasMetadata = true;
  if (json.consumeNull())
    return false;
  return json.object([&](const JsonReader::String &key) {
    JsonReader::String value;
    if (json.string(value))
      return true;
    if (metadata.size() == kMostMetadata)
      return json.fail("__metadata__ has more than " + Twine(kMostMetadata) +
                       " entries");
    return !metadata.try_emplace(key.str(), value.str()).second &&
           json.fail("__metadata__ has '" + printableName(key.str()) +
                     "' twice");
  });
}

bool SafetensorsHeader::tensor(const JsonReader::String &name) {
  Fields fields;
  return json.object([&](const JsonReader::String &key) {
    return field(key, fields);
  }) || add(name, fields);
}

bool SafetensorsHeader::field(const JsonReader::String &key, Fields &fields) {
  std::string storage;
  StringRef plain = key.plain(storage);
  auto first = [&](bool &seen) {
    return std::exchange(seen, true) && json.fail("'" + plain + "' twice");
  };
  if (plain == "dtype")
    return first(fields.hasDtype) || dtype(fields);
  if (plain == "shape")
    return first(fields.hasShape) || shape(fields);
  if (plain == "data_offsets")
    return first(fields.hasOffsets) || offsets(fields);
  return json.skip();
}

bool SafetensorsHeader::dtype(Fields &fields) {
  JsonReader::String text;
  if (json.string(text))
    return true;
  std::string storage;
  StringRef name = text.plain(storage);
  auto *found = llvm::find_if(safetensorsDtypes(),
                              [&](auto &dtype) { return name == dtype.name; });
  if (found == safetensorsDtypes().end())
    return json.fail("unknown dtype '" + printableName(name) + "'");
  fields.entry.dtype = found - safetensorsDtypes().begin();
  return false;
}

bool SafetensorsHeader::shape(Fields &fields) {
  fields.entry.shape = json.place();
  return json.array([&] {
    uint64_t size = 0;
    if (json.natural(size))
      return true;
    fields.overflows |=
        __builtin_mul_overflow(fields.elements, size, &fields.elements);
    fields.largest = std::max({fields.largest, fields.elements, size});
    return false;
  });
}

bool SafetensorsHeader::offsets(Fields &fields) {
  uint64_t *ends[] = {&fields.entry.begin, &fields.entry.end};
  size_t count = 0;
  return json.array([&] {
    return count == 2 ? json.fail("data_offsets of more than two numbers")
                      : json.natural(*ends[count++]);
  }) || (count < 2 && json.fail("data_offsets of fewer than two numbers"));
}

/// Checks that the tensor's data are in the file and as many as its type needs.
bool SafetensorsHeader::place(const JsonReader::String &name, Fields &fields) {
  auto [begin, end] = std::pair(fields.entry.begin, fields.entry.end);
  auto fail = [&](const Twine &message) {
    problem = ("tensor '" + printableName(name.str()) + "' " + message).str();
    return true;
  };
  if (begin > end || end > table.data.size())
    return fail("lies at bytes " + Twine(begin) + " to " + Twine(end) +
                " of the data, which are " +
                (begin > end ? "" : "truncated to ") +
                Twine(table.data.size()) + " bytes");
  uint64_t bits = safetensorsDtypes()[fields.entry.dtype].bits;
  if (fields.overflows || __builtin_mul_overflow(fields.elements, bits, &bits))
    return fail("has sizes whose product overflows");
  if (bits % 8)
    return fail("ends inside of a byte");
  if (bits / 8 != end - begin)
    return fail("needs " + Twine(bits / 8) + " bytes of data, and has " +
                Twine(end - begin));
  if (safetensorsDtypes()[fields.entry.dtype].element != ElementType::I1)
    return false;
  Error error =
      checkBooleans({ElementType::I1, {}}, table.bytesOf(fields.entry),
                    "tensor '" + printableName(name.str()) + "'");
  if (!error)
    return false;
  problem = toString(std::move(error));
  return true;
}

bool SafetensorsHeader::add(const JsonReader::String &name, Fields &fields) {
  if (!fields.hasDtype || !fields.hasShape || !fields.hasOffsets)
    return json.fail("tensor '" + printableName(name.str()) + "' has no " +
                     (!fields.hasDtype   ? "dtype"
                      : !fields.hasShape ? "shape"
                                         : "data_offsets"));
  if (place(name, fields))
    return true;
  TensorTable::Entry &entry = fields.entry;
  entry.hasEscapes = name.hasEscapes;
  entry.name = name.raw.data() - table.header.data();
  entry.nameLength = name.raw.size();
  if (name.hasEscapes) {
    std::string plain = name.str();
    entry.name = table.unescaped.size();
    entry.nameLength = plain.size();
    table.unescaped += plain;
  }
  // Any element type of 8 bytes or fewer has then fewer than 2^63 bytes.
  entry.isUsable = safetensorsDtypes()[entry.dtype].element &&
                   fields.largest <= uint64_t(INT64_MAX) / 8;
  table.entries.push_back(entry);
  return false;
}

/// Checks that the tensors cover the data, each byte once.
std::string SafetensorsHeader::checkCover() {
  auto less = [](const TensorTable::Entry &a, const TensorTable::Entry &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  };
  if (!is_sorted(table.entries, less))
    llvm::sort(table.entries, less);
  uint64_t at = 0;
  for (const TensorTable::Entry &entry : table.entries) {
    if (entry.begin != at)
      return formatv("tensor '{0}' starts at byte {1} of the data, expected "
                     "{2}",
                     printableName(table.nameOf(entry)), entry.begin, at);
    at = entry.end;
  }
  if (at != table.data.size())
    return formatv("{0} bytes left over after the last tensor",
                   table.data.size() - at);
  return "";
}

bool SafetensorsHeader::inOrderOfData(
    function_ref<bool(StringRef, ArrayRef<char>)> visit) {
  return llvm::all_of(table.entries, [&](const TensorTable::Entry &entry) {
    return visit(table.nameOf(entry), table.bytesOf(entry));
  });
}

std::string SafetensorsHeader::finish() {
  table.index();
  // Usable tensors come first, so that a name may also be in both parts.
  ArrayRef<TensorTable::Entry> all = table.entries;
  for (size_t i = 0; i + 1 < all.size(); ++i)
    if (table.nameOf(all[i]) == table.nameOf(all[i + 1]))
      return formatv("tensor '{0}' is there twice",
                     printableName(table.nameOf(all[i])));
  for (const TensorTable::Entry &entry : all.drop_front(table.usable))
    if (table.count(table.nameOf(entry)))
      return formatv("tensor '{0}' is there twice",
                     printableName(table.nameOf(entry)));
  return "";
}

} // namespace mp
