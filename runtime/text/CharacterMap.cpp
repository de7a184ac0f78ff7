//===- CharacterMap.cpp - SentencePiece's table of normalized characters --===//
#include "runtime/text/CharacterMap.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace mp::tokenizers {

// A unit of the trie is a node, with the byte that leads to it and the way to
// its children, or the value of its parent.
static bool isValue(uint32_t unit) { return unit >> 31; }
static uint32_t valueOf(uint32_t unit) { return unit & 0x7FFF'FFFF; }
static bool hasValue(uint32_t unit) { return (unit >> 8) & 1; }
static bool isReachedBy(uint32_t unit, unsigned char byte) {
  return (unit & 0x8000'00FF) == byte;
}
/// What the number of the node is changed by, so that that of its value comes
/// out, and with a byte as well, that of a child.
static size_t offsetOf(uint32_t unit) {
  return static_cast<size_t>(unit >> 10) << ((unit & 0x200) ? 8 : 0);
}

static bool isBoundary(StringRef text, size_t at) {
  return at == text.size() ||
         (at < text.size() &&
          (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80);
}

Expected<CharacterMap> CharacterMap::read(StringRef bytes) {
  constexpr size_t width = sizeof(uint32_t);
  if (bytes.size() < width)
    return makeError("expected a table of characters, found {0} bytes",
                     bytes.size());
  size_t length = support::endian::read32le(bytes.data());
  StringRef rest = bytes.drop_front(width);
  if (length == 0 || length % width || length > rest.size())
    return makeError("expected a trie of whole units in {0} bytes, found one "
                     "of {1} bytes",
                     rest.size(), length);
  CharacterMap map;
  for (size_t at = 0; at < length; at += width)
    map.units.push_back(support::endian::read32le(rest.data() + at));
  map.texts = rest.drop_front(length).str();
  if (std::optional<size_t> at = firstInvalid(map.texts))
    return makeError("byte {0} is not UTF-8", width + length + *at);
  // Those of Unicode's compatibility forms have up to 33 bytes.
  constexpr size_t longest = 256;
  for (StringRef rest = map.texts; rest.size() > longest;
       rest = rest.split('\0').second)
    if (rest.find('\0') > longest)
      return makeError("a text of more than {0} bytes stands for a character",
                       longest);
  // Of every node, so that a search has no value to check.
  for (auto [i, unit] : enumerate(map.units)) {
    if (isValue(unit) || !hasValue(unit))
      continue;
    size_t place = i ^ offsetOf(unit);
    if (place >= map.units.size() ||
        !isBoundary(map.texts, valueOf(map.units[place])))
      return makeError("unit {0} of the trie has no text", i);
  }
  return map;
}

/// Calls `found` for the keys that a text begins with, the shortest first,
/// until it returns true.
void CharacterMap::forEachAt(StringRef text,
                             function_ref<bool(Rule)> found) const {
  size_t at = offsetOf(units[0]);
  for (auto [i, byte] : enumerate(text.bytes())) {
    at ^= byte;
    if (byte == 0 || at >= units.size() || !isReachedBy(units[at], byte))
      return;
    uint32_t node = units[at];
    at ^= offsetOf(node);
    if (!hasValue(node))
      continue;
    StringRef with = StringRef(texts).drop_front(valueOf(units[at]));
    if (found({i + 1, with.split('\0').first}))
      return;
  }
}

CharacterMap::Rule CharacterMap::longestAt(StringRef text) const {
  Rule longest;
  forEachAt(text, [&](Rule rule) {
    longest = rule;
    return false;
  });
  return longest;
}

/// Returns what stands for the shortest beginning of a text that is a key.
std::optional<StringRef> CharacterMap::find(StringRef text) const {
  std::optional<StringRef> shortest;
  forEachAt(text, [&](Rule rule) {
    shortest = rule.with;
    return true;
  });
  return shortest;
}

std::string CharacterMap::normalized(StringRef text) const {
  constexpr size_t mostBytes = 5;
  std::string changed;
  while (!text.empty()) {
    StringRef grapheme = text.take_front(graphemeLength(text));
    text = text.drop_front(grapheme.size());
    std::optional<StringRef> whole;
    if (grapheme.size() <= mostBytes)
      whole = find(grapheme);
    if (whole) {
      changed += *whole;
      continue;
    }
    while (!grapheme.empty()) {
      StringRef character = grapheme.take_front(characterLength(grapheme));
      grapheme = grapheme.drop_front(character.size());
      changed += find(character).value_or(character);
    }
  }
  return changed;
}

} // namespace mp::tokenizers
