//===- TensorTable.cpp - the tensors that a file holds, by name -----------===//
#include "runtime/data/TensorTable.h"
#include "support/Error.h"
#include "support/JsonReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace mp {

ArrayRef<SafetensorsDtype> safetensorsDtypes() {
  static constexpr SafetensorsDtype all[] = {
      {"BOOL", 8, ElementType::I1},
      {"F4", 4, {}},
      {"F6_E2M3", 6, {}},
      {"F6_E3M2", 6, {}},
      {"U8", 8, ElementType::U8},
      {"I8", 8, ElementType::I8},
      {"F8_E5M2", 8, ElementType::F8E5M2},
      {"F8_E4M3", 8, ElementType::F8E4M3FN},
      {"F8_E8M0", 8, {}},
      {"F8_E4M3FNUZ", 8, {}},
      {"F8_E5M2FNUZ", 8, {}},
      {"I16", 16, ElementType::I16},
      {"U16", 16, ElementType::U16},
      {"F16", 16, ElementType::F16},
      {"BF16", 16, ElementType::BF16},
      {"I32", 32, ElementType::I32},
      {"U32", 32, ElementType::U32},
      {"F32", 32, ElementType::F32},
      {"C64", 64, {}},
      {"F64", 64, ElementType::F64},
      {"I64", 64, ElementType::I64},
      {"U64", 64, {}},
  };
  return all;
}

StringRef TensorTable::nameOf(const Entry &entry) const {
  StringRef text = entry.hasEscapes ? StringRef(unescaped) : header;
  return text.substr(entry.name, entry.nameLength);
}

Array TensorTable::arrayOf(const Entry &entry) const {
  TensorType type{*safetensorsDtypes()[entry.dtype].element, {}};
  // The header was read before, so that this cannot fail.
  JsonReader json(header.drop_front(entry.shape));
  json.array([&] {
    uint64_t size = 0;
    if (json.natural(size))
      return true;
    type.shape.push_back(size);
    return false;
  });
  return {std::move(type), bytesOf(entry), owner, owner.get()};
}

/// Returns the bytes after the first `skipped` as a number, which orders names
/// that differ in them.
static uint64_t orderOf(StringRef name, size_t skipped) {
  char bytes[sizeof(uint64_t)] = {};
  name = name.drop_front(skipped).take_front(sizeof bytes);
  llvm::copy(name, bytes);
  return support::endian::read64be(bytes);
}

void TensorTable::index() {
  auto byName = [&](const Entry &a, const Entry &b) {
    return nameOf(a) < nameOf(b);
  };
  if (!is_sorted(entries, byName)) { // some writers sort
    // A comparison of names looks into the header, of which a million names are
    // too much for the caches. Numbers decide nearly all of them.
    size_t shared = entries.front().nameLength;
    for (const Entry &entry : entries) {
      StringRef first = nameOf(entries.front()), name = nameOf(entry);
      first = first.take_front(shared);
      shared =
          std::mismatch(first.begin(), first.end(), name.begin(), name.end())
              .first -
          first.begin();
    }
    std::vector<std::pair<uint64_t, uint32_t>> order;
    order.reserve(entries.size());
    for (auto [i, entry] : enumerate(entries))
      order.emplace_back(orderOf(nameOf(entry), shared), i);
    llvm::sort(order, [&](auto &a, auto &b) {
      return a.first != b.first ? a.first < b.first
                                : byName(entries[a.second], entries[b.second]);
    });
    std::vector<Entry> sorted;
    sorted.reserve(entries.size());
    for (auto &[number, i] : order)
      sorted.push_back(entries[i]);
    entries = std::move(sorted);
  }
  usable = count_if(entries, [](auto &entry) { return entry.isUsable; });
  if (usable == entries.size())
    return;
  std::vector<Entry> parted;
  parted.reserve(entries.size());
  for (bool isUsable : {true, false})
    copy_if(entries, std::back_inserter(parted),
            [&](auto &entry) { return entry.isUsable == isUsable; });
  entries = std::move(parted);
}

const TensorTable::value_type &TensorTable::iterator::operator*() const {
  if (!current) {
    const Entry &entry = table->entries[index];
    current.emplace(table->nameOf(entry).str(), table->arrayOf(entry));
  }
  return *current;
}

TensorTable::iterator TensorTable::find(StringRef name) const {
  auto all = ArrayRef(entries).take_front(usable);
  auto found = partition_point(
      all, [&](const Entry &entry) { return nameOf(entry) < name; });
  if (found == all.end() || nameOf(*found) != name)
    return end();
  return {this, size_t(found - all.begin())};
}

Array TensorTable::at(StringRef name) const { return find(name)->second; }

std::vector<std::string> TensorTable::names() const {
  std::vector<std::string> all;
  for (const Entry &entry : entries)
    all.push_back(nameOf(entry).str());
  llvm::sort(all);
  return all;
}

std::string TensorTable::whyUnusable(StringRef name) const {
  for (const Entry &entry : ArrayRef(entries).drop_front(usable)) {
    if (!name.empty() && nameOf(entry) != name)
      continue;
    const SafetensorsDtype &dtype = safetensorsDtypes()[entry.dtype];
    if (dtype.element)
      return formatv("tensor '{0}' has sizes whose product overflows",
                     printableName(nameOf(entry)));
    std::vector<StringRef> known;
    for (const SafetensorsDtype &other : safetensorsDtypes())
      if (other.element)
        known.push_back(other.name);
    return formatv("tensor '{0}' has dtype {1}, expected {2}",
                   printableName(nameOf(entry)), dtype.name, join(known, ", "));
  }
  return "";
}

} // namespace mp
