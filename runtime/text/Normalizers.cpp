//===- Normalizers.cpp - changes of text before it is split ---------------===//
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"

using namespace llvm;

namespace mp::tokenizers {

/// The blocks of Chinese characters of Hugging Face's BertNormalizer, which
/// leaves 2B820 to 2B91F out.
static bool isChinese(char32_t c) {
  constexpr std::pair<char32_t, char32_t> blocks[] = {
      {0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
      {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},
      {0x2F800, 0x2FA1F}};
  for (auto [first, last] : blocks)
    if (c >= first && c <= last)
      return true;
  return false;
}

/// Removes controls, and makes every space the same.
static void clean(char32_t c, std::string &text) {
  bool isLineOrTab = c == '\t' || c == '\n' || c == '\r';
  if (c == 0 || c == 0xFFFD || (isControl(c) && !isLineOrTab))
    return;
  if (isSpace(c))
    text += ' ';
  else
    appendCharacter(c, text);
}

std::string BertNormalizer::operator()(StringRef text) const {
  std::string changed = text.str();
  if (cleanText)
    changed = changedEach(changed, clean);
  if (handleChineseChars)
    changed = changedEach(changed, [](char32_t c, std::string &to) {
      if (!isChinese(c))
        return appendCharacter(c, to);
      to += ' ';
      appendCharacter(c, to);
      to += ' ';
    });
  if (stripAccents.value_or(lowercase))
    changed = changedEach(normalized(changed, NormalForm::D),
                          [](char32_t c, std::string &to) {
                            if (!isNonspacingMark(c))
                              appendCharacter(c, to);
                          });
  return lowercase ? tokenizers::lowercase(changed) : changed;
}

std::string stripAccents(StringRef text) {
  return changedEach(text, [](char32_t c, std::string &to) {
    if (!isMark(c))
      appendCharacter(c, to);
  });
}

std::string lowercase(StringRef text) { return changedEach(text, appendLower); }

} // namespace mp::tokenizers
