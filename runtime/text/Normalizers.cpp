//===- Normalizers.cpp - changes of text before it is split ---------------===//
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"

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

/// Returns where the spaces that a text ends with begin.
static size_t endWithoutSpaces(StringRef text) {
  size_t end = 0;
  for (StringRef rest = text; !rest.empty();)
    if (!isSpace(takeCharacter(rest)))
      end = text.size() - rest.size();
  return end;
}

std::string Strip::operator()(StringRef text) const {
  if (right)
    text = text.take_front(endWithoutSpaces(text));
  while (left && !text.empty() && isSpace(*firstCharacter(text)))
    takeCharacter(text);
  return text.str();
}

std::string Prepend::operator()(StringRef after) const {
  return after.empty() ? "" : (text + after).str();
}

Error checkGrowth(size_t before, size_t now) {
  if (now <= mostBytesOf(before))
    return Error::success();
  return makeError("stages of the tokenizer make more than {0} bytes of {1}",
                   mostBytesOf(before), before);
}

Expected<std::string> Replace::operator()(StringRef text) const {
  std::string changed;
  Error error = pattern.split(text, [&](Stretch part) {
    if (changed.size() > mostBytesOf(text.size()))
      return;
    changed +=
        part.isMatch ? StringRef(with) : text.slice(part.begin, part.end);
  });
  if (error)
    return error;
  if (Error grown = checkGrowth(text.size(), changed.size()))
    return grown;
  return changed;
}

std::string nmt(StringRef text) {
  return changedEach(text, [](char32_t c, std::string &to) {
    auto isIn = [&](char32_t first, char32_t last) {
      return c >= first && c <= last;
    };
    if (isIn(0x01, 0x08) || c == 0x0B || isIn(0x0E, 0x1F) || c == 0x7F ||
        c == 0x8F || c == 0x9F)
      return;
    bool isSpace = isIn(0x09, 0x0A) || isIn(0x0C, 0x0D) || c == 0x1680 ||
                   isIn(0x200B, 0x200F) || isIn(0x2028, 0x2029) ||
                   c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    appendCharacter(isSpace ? U' ' : c, to);
  });
}

std::string stripAccents(StringRef text) {
  return changedEach(text, [](char32_t c, std::string &to) {
    if (!isMark(c))
      appendCharacter(c, to);
  });
}

std::string lowercase(StringRef text) { return changedEach(text, appendLower); }

} // namespace mp::tokenizers
