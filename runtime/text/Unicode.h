//===- Unicode.h - characters and their classes ---------------------------===//
//
// What tokenizers ask of Unicode, answered by utf8proc. Text is UTF-8; whoever
// reads a file checks it with `firstInvalid` first.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TEXT_UNICODE_H
#define MP_RUNTIME_TEXT_UNICODE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mp::tokenizers {

/// Returns the first byte that does not belong to a character of UTF-8, as RFC
/// 3629 defines it: no overlong forms, no surrogates.
std::optional<size_t> firstInvalid(llvm::StringRef text);

/// Returns the bytes of the character that a text begins with. Of text that is
/// not UTF-8, a byte is a character.
size_t characterLength(llvm::StringRef text);
/// Returns the bytes of the extended grapheme cluster that a text begins with
/// (Unicode Standard Annex 29).
size_t graphemeLength(llvm::StringRef text);
/// Removes the first character and returns it; U+FFFD if it is not UTF-8.
char32_t takeCharacter(llvm::StringRef &text);
/// Returns the character that a text begins with, or none at its end.
std::optional<char32_t> firstCharacter(llvm::StringRef text);
void appendCharacter(char32_t character, std::string &text);

/// By the general category: L*, N*, P*, M* and Mn.
bool isLetter(char32_t character);
bool isNumber(char32_t character);
bool isPunctuation(char32_t character);
/// P*, and all of ASCII that is neither letter nor digit, such as '$'.
bool isAnyPunctuation(char32_t character);
bool isMark(char32_t character);
bool isNonspacingMark(char32_t character);
/// Controls, formats and characters of private use: Cc, Cf and Co.
bool isControl(char32_t character);
/// What \w of regular expressions matches.
bool isWord(char32_t character);
/// By the property White_Space.
bool isSpace(char32_t character);

/// Appends the character in lower case, which is two for U+0130.
void appendLower(char32_t character, std::string &text);

/// The forms of Unicode Standard Annex 15.
enum class NormalForm { C, D, KC, KD };
std::string normalized(llvm::StringRef text, NormalForm form);

/// Returns what `change` appends for each character.
std::string
changedEach(llvm::StringRef text,
            llvm::function_ref<void(char32_t, std::string &)> change);

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_UNICODE_H
