//===- PreTokenizers.cpp - texts into words -------------------------------===//
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"
#include <array>

using namespace llvm;

namespace mp::tokenizers {

//===----------------------------------------------------------------------===//
// GPT-2
//===----------------------------------------------------------------------===//

namespace {

enum class Class { Letter, Number, Space, Rest };

Class classOf(char32_t c) {
  if (isLetter(c))
    return Class::Letter;
  if (isNumber(c))
    return Class::Number;
  return isSpace(c) ? Class::Space : Class::Rest;
}

/// The bytes of the characters of one class that a text begins with.
size_t runLength(StringRef text, Class wanted) {
  StringRef rest = text;
  while (!rest.empty()) {
    StringRef next = rest;
    if (classOf(takeCharacter(next)) != wanted)
      break;
    rest = next;
  }
  return text.size() - rest.size();
}

/// Returns the length of the match of GPT-2's pattern at the beginning of a
/// text (Radford et al., "Language Models are Unsupervised Multitask Learners",
/// 2019):
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
size_t matchLength(StringRef text) {
  for (StringRef tail : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(tail))
      return tail.size();
  StringRef rest = text;
  size_t space = rest.consume_front(" ") ? 1 : 0;
  if (auto next = firstCharacter(rest); next && !isSpace(*next))
    return space + runLength(rest, classOf(*next));
  size_t spaces = runLength(text, Class::Space);
  if (spaces == text.size())
    return spaces;
  // The last space stays with what follows it, unless it is the only one.
  size_t last = 0;
  for (size_t at = 0; at < spaces; at += characterLength(text.substr(at)))
    last = at;
  return last ? last : spaces;
}

/// The characters that stand for bytes: those of Latin-1 that can be seen for
/// themselves, and for the others, in their order, those from U+0100 on.
struct ByteCharacters {
  std::array<std::string, 256> ofByte;
  std::array<int, 0x180> byteOf; ///< -1: the character stands for none

  ByteCharacters() {
    byteOf.fill(-1);
    char32_t other = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      bool isVisible = (byte >= '!' && byte <= '~') ||
                       (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      char32_t character = isVisible ? byte : other++;
      appendCharacter(character, ofByte[byte]);
      byteOf[character] = byte;
    }
  }
};

const ByteCharacters &byteCharacters() {
  static const ByteCharacters characters;
  return characters;
}

} // namespace

Error ByteLevel::operator()(Piece piece, WordSink word) const {
  StringRef text = piece.text;
  bool isFirst = piece.isFirst;
  std::string prefixed, shown;
  if (addPrefixSpace && !text.starts_with(" "))
    text = prefixed = " " + text.str();
  while (!text.empty()) {
    size_t length = useRegex ? matchLength(text) : text.size();
    shown.clear();
    for (unsigned char byte : text.take_front(length))
      shown += byteCharacters().ofByte[byte];
    word({shown, isFirst});
    isFirst = false;
    text = text.drop_front(length);
  }
  return Error::success();
}

std::string bytesOfByteLevel(StringRef text) {
  std::string bytes;
  const auto &byteOf = byteCharacters().byteOf;
  for (StringRef rest = text; !rest.empty();) {
    char32_t character = takeCharacter(rest);
    if (character >= byteOf.size() || byteOf[character] < 0)
      return text.str();
    bytes += static_cast<char>(byteOf[character]);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Words by classes of characters
//===----------------------------------------------------------------------===//

namespace {
/// What becomes of a character: the end of a word, a word of its own, or a part
/// of a word of one kind.
enum class Role { Gap, Alone, First, Second };
} // namespace

static Error splitByRole(Piece piece, WordSink word,
                         function_ref<Role(char32_t)> roleOf) {
  StringRef text = piece.text;
  size_t begin = 0; // of the word that `role` is of
  Role role = Role::Gap;
  auto end = [&](size_t at) {
    if (role != Role::Gap && at > begin)
      word(piece.slice(begin, at));
    begin = at;
  };
  for (StringRef rest = text; !rest.empty();) {
    size_t at = text.size() - rest.size();
    Role next = roleOf(takeCharacter(rest));
    if (next != role || next == Role::Alone)
      end(at);
    role = next;
  }
  end(text.size());
  return Error::success();
}

Error bertPreTokenizer(Piece piece, WordSink word) {
  return splitByRole(piece, word, [](char32_t c) {
    if (isSpace(c))
      return Role::Gap;
    return isAnyPunctuation(c) ? Role::Alone : Role::First;
  });
}

Error whitespaceSplit(Piece piece, WordSink word) {
  return splitByRole(piece, word, [](char32_t c) {
    return isSpace(c) ? Role::Gap : Role::First;
  });
}

Error whitespaceRuns(Piece piece, WordSink word) {
  return splitByRole(piece, word, [](char32_t c) {
    if (isSpace(c))
      return Role::Gap;
    return isWord(c) ? Role::First : Role::Second;
  });
}

} // namespace mp::tokenizers
