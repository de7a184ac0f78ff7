//===- Pattern.h - what Split and Replace look for ------------------------===//
#ifndef MP_RUNTIME_TEXT_PATTERN_H
#define MP_RUNTIME_TEXT_PATTERN_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace mp::tokenizers {

/// A part of a text: a match of a pattern, or the text between two.
struct Stretch {
  size_t begin, end;
  bool isMatch;
};
using StretchSink = llvm::function_ref<void(Stretch)>;

/// A text, or a regular expression as Oniguruma reads it, which is what Hugging
/// Face's package uses. PCRE2 matches it: what the two understand in different
/// ways is translated, or refused.
class Pattern {
public:
  static Pattern ofText(std::string text);
  static llvm::Expected<Pattern> ofRegex(llvm::StringRef pattern);

  /// Calls `each` for the parts of a text, which is UTF-8, in their order. A
  /// match may be empty. Fails if a match takes too many steps.
  llvm::Error split(llvm::StringRef text, StretchSink each) const;

private:
  class Regex;

  std::string literal; ///< without a `regex`
  std::shared_ptr<const Regex> regex;
};

/// Translates a regular expression from Oniguruma's syntax to that of PCRE2.
/// Fails if it has a construct that is not read.
llvm::Expected<std::string> pcreSyntax(llvm::StringRef pattern);

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_PATTERN_H
