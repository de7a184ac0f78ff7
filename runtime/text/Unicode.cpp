//===- Unicode.cpp - characters and their classes -------------------------===//
#include "runtime/text/Unicode.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstdlib>
#include <memory>
#include <utf8proc.h>

using namespace llvm;

namespace mp::tokenizers {

namespace {

/// A character that a text begins with; 0 bytes if it begins with none.
struct Decoded {
  char32_t character = 0;
  size_t bytes = 0;
};

Decoded decode(StringRef text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty())
    return {};
  if (byte(0) < 0x80)
    return {byte(0), 1};
  utf8proc_int32_t character;
  auto bytes = utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t *>(text.data()),
      static_cast<utf8proc_ssize_t>(std::min<size_t>(text.size(), 4)),
      &character);
  if (bytes <= 0)
    return {};
  return {static_cast<char32_t>(character), static_cast<size_t>(bytes)};
}

utf8proc_category_t categoryOf(char32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

bool isBetween(utf8proc_category_t category, utf8proc_category_t first,
               utf8proc_category_t last) {
  return category >= first && category <= last;
}

} // namespace

std::optional<size_t> firstInvalid(StringRef text) {
  for (StringRef rest = text; !rest.empty();) {
    Decoded first = decode(rest);
    if (!first.bytes)
      return text.size() - rest.size();
    rest = rest.drop_front(first.bytes);
  }
  return std::nullopt;
}

size_t characterLength(StringRef text) {
  return text.empty() ? 0 : std::max<size_t>(decode(text).bytes, 1);
}

size_t graphemeLength(StringRef text) {
  if (text.empty())
    return 0;
  StringRef rest = text;
  utf8proc_int32_t state = 0;
  auto before = static_cast<utf8proc_int32_t>(takeCharacter(rest));
  while (!rest.empty()) {
    StringRef after = rest;
    auto next = static_cast<utf8proc_int32_t>(takeCharacter(after));
    if (utf8proc_grapheme_break_stateful(before, next, &state))
      break;
    before = next;
    rest = after;
  }
  return text.size() - rest.size();
}

char32_t takeCharacter(StringRef &text) {
  Decoded first = decode(text);
  text = text.drop_front(std::max<size_t>(first.bytes, 1));
  return first.bytes ? first.character : 0xFFFD;
}

std::optional<char32_t> firstCharacter(StringRef text) {
  if (text.empty())
    return std::nullopt;
  return takeCharacter(text);
}

void appendCharacter(char32_t character, std::string &text) {
  utf8proc_uint8_t bytes[4];
  auto count =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  text.append(reinterpret_cast<char *>(bytes), count);
}

// The enumerators of a letter's categories, and of a number's and so on, follow
// one another.
bool isLetter(char32_t character) {
  return isBetween(categoryOf(character), UTF8PROC_CATEGORY_LU,
                   UTF8PROC_CATEGORY_LO);
}
bool isNumber(char32_t character) {
  return isBetween(categoryOf(character), UTF8PROC_CATEGORY_ND,
                   UTF8PROC_CATEGORY_NO);
}
bool isPunctuation(char32_t character) {
  return isBetween(categoryOf(character), UTF8PROC_CATEGORY_PC,
                   UTF8PROC_CATEGORY_PO);
}
bool isAnyPunctuation(char32_t character) {
  bool isAscii = character > 0x20 && character < 0x7F && !isLetter(character) &&
                 !isNumber(character);
  return isAscii || isPunctuation(character);
}
bool isMark(char32_t character) {
  return isBetween(categoryOf(character), UTF8PROC_CATEGORY_MN,
                   UTF8PROC_CATEGORY_ME);
}
bool isNonspacingMark(char32_t character) {
  return categoryOf(character) == UTF8PROC_CATEGORY_MN;
}
bool isControl(char32_t character) {
  return isBetween(categoryOf(character), UTF8PROC_CATEGORY_CC,
                   UTF8PROC_CATEGORY_CO);
}
bool isWord(char32_t character) {
  // What is alphabetic though it is no letter: letters in circles and squares.
  auto isIn = [&](char32_t first, char32_t last) {
    return character >= first && character <= last;
  };
  utf8proc_category_t category = categoryOf(character);
  return isLetter(character) || isMark(character) ||
         category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_PC || isIn(0x200C, 0x200D) ||
         isIn(0x24B6, 0x24E9) || isIn(0x1F130, 0x1F149) ||
         isIn(0x1F150, 0x1F169) || isIn(0x1F170, 0x1F189);
}

bool isSpace(char32_t character) {
  return (character >= 0x09 && character <= 0x0D) || character == 0x20 ||
         character == 0x85 || character == 0xA0 || character == 0x1680 ||
         (character >= 0x2000 && character <= 0x200A) || character == 0x2028 ||
         character == 0x2029 || character == 0x202F || character == 0x205F ||
         character == 0x3000;
}

void appendLower(char32_t character, std::string &text) {
  // The only one whose lower case, without regard to language and place, is not
  // one character (SpecialCasing.txt).
  if (character == 0x130)
    return (void)text.append("i\xCC\x87");
  appendCharacter(static_cast<char32_t>(utf8proc_tolower(
                      static_cast<utf8proc_int32_t>(character))),
                  text);
}

std::string normalized(StringRef text, NormalForm form) {
  int options = UTF8PROC_STABLE;
  bool composes = form == NormalForm::C || form == NormalForm::KC;
  options |= composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::KC || form == NormalForm::KD)
    options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t *made = nullptr;
  auto bytes =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t *>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &made,
                   static_cast<utf8proc_option_t>(options));
  std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made,
                                                                &std::free);
  if (bytes == UTF8PROC_ERROR_NOMEM)
    report_bad_alloc_error("a normal form of text");
  // Text that is not UTF-8, which callers do not pass.
  if (bytes < 0)
    return text.str();
  return {reinterpret_cast<char *>(made), static_cast<size_t>(bytes)};
}

std::string changedEach(StringRef text,
                        function_ref<void(char32_t, std::string &)> change) {
  std::string changed;
  changed.reserve(text.size());
  while (!text.empty())
    change(takeCharacter(text), changed);
  return changed;
}

} // namespace mp::tokenizers
