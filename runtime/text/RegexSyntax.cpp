//===- RegexSyntax.cpp - from Oniguruma's syntax to that of PCRE2 ---------===//
//
// Patterns of tokenizers are written for Oniguruma. Most of their syntax means
// the same to PCRE2; this translates what does not, and refuses what no
// tokenizer is known to have, rather than match something else.
//
//===----------------------------------------------------------------------===//
#include "runtime/text/Pattern.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp::tokenizers {

namespace {

/// \w, as Unicode Technical Standard 18 defines it but for joiners; PCRE2's own
/// leaves marks out. Outside of sets, Oniguruma adds the numbers of Latin-1.
constexpr StringLiteral kWord = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
constexpr StringLiteral kMoreWord = "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";

class Translation {
public:
  explicit Translation(StringRef pattern) : pattern(pattern), rest(pattern) {}

  Expected<std::string> run() {
    while (!rest.empty())
      if (Error error = element())
        return error;
    return made;
  }

private:
  Error element();
  Error literal();
  Error escape(bool isInSet);
  Error number(size_t digits);
  Error property();
  Error open();
  Error set();
  void interval();

  Error refuse(StringRef what) const {
    return makeError("has '{0}' at byte {1}, which regular expressions are not "
                     "read with",
                     printableName(what), pattern.size() - rest.size());
  }
  void copy(size_t bytes) {
    made += rest.take_front(bytes);
    rest = rest.drop_front(bytes);
  }

  StringRef pattern, rest;
  std::string made;
  size_t atom = 0;    ///< where what is repeated begins
  bool folds = false; ///< (?i: ...)
  struct Group {
    size_t begin;
    bool foldsAround;
  };
  SmallVector<Group, 4> groups; ///< those that are open
};

Error Translation::element() {
  char next = rest.front();
  if (next == '{')
    return interval(), Error::success();
  if (next == ')') {
    auto [begin, foldsAround] =
        groups.empty() ? Group{made.size(), folds} : groups.pop_back_val();
    atom = begin;
    folds = foldsAround;
    return copy(1), Error::success();
  }
  if (StringRef("*+?").contains(next))
    return copy(1), Error::success();
  atom = made.size();
  if (next == '\\')
    return escape(/*isInSet=*/false);
  if (next == '[')
    return set();
  if (next == '(')
    return open();
  return literal();
}

/// A character. Oniguruma also folds letters that are several in another case:
/// to it, (?i:ss) matches "ß". PCRE2 does not.
Error Translation::literal() {
  constexpr StringLiteral ligatures[] = {"ss", "st", "ff", "fi", "fl"};
  bool isSeveral =
      !isASCII(rest.front()) || any_of(ligatures, [&](StringRef letters) {
        return rest.starts_with_insensitive(letters);
      });
  if (folds && isSeveral)
    return refuse(
        rest.take_front(isASCII(rest.front()) ? 2 : characterLength(rest)));
  return copy(characterLength(rest)), Error::success();
}

Error Translation::open() {
  groups.push_back({made.size(), folds});
  for (StringRef kind :
       {"(?:", "(?i:", "(?-i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"})
    if (rest.starts_with(kind)) {
      folds = kind == "(?i:" || (folds && kind != "(?-i:");
      return copy(kind.size()), Error::success();
    }
  if (rest.starts_with("(?") || rest.starts_with("(*"))
    return refuse(rest.take_front(3));
  return copy(1), Error::success();
}

/// {n,m}: it is never possessive, as X{1,3}+ is to PCRE2, and {n}? is no lazy
/// repetition, but an optional one.
void Translation::interval() {
  StringRef after = rest.drop_front();
  StringRef least = after.take_while(isDigit);
  after = after.drop_front(least.size());
  bool isRange = after.consume_front(",");
  StringRef most = isRange ? after.take_while(isDigit) : StringRef();
  after = after.drop_front(most.size());
  if (!after.consume_front("}") || (least.empty() && most.empty())) {
    atom = made.size();
    made += "\\";
    return copy(1);
  }
  rest = after;
  made += "{" + (least.empty() ? "0" : least.str()) + (isRange ? "," : "") +
          most.str() + "}";
  bool isRepeated = rest.starts_with("+") || rest.starts_with("*") ||
                    (!isRange && rest.starts_with("?"));
  if (!isRepeated)
    return;
  made.insert(atom, "(?:");
  made += ")";
}

/// A set of characters: [^a-z\s].
Error Translation::set() {
  copy(1);
  if (rest.starts_with("^"))
    copy(1);
  for (bool isFirst = true; !rest.empty(); isFirst = false) {
    if (rest.starts_with("]") && !isFirst)
      return copy(1), Error::success();
    // Sets within sets, and what they have in common.
    if (rest.starts_with("[") || rest.starts_with("&&"))
      return refuse(rest.take_front(rest.front() == '[' ? 1 : 2));
    if (folds && !isASCII(rest.front()))
      return refuse(rest.take_front(characterLength(rest)));
    if (!rest.starts_with("\\"))
      copy(characterLength(rest));
    else if (Error error = escape(/*isInSet=*/true))
      return error;
  }
  return Error::success(); // PCRE2 says that the end is missing
}

Error Translation::escape(bool isInSet) {
  if (rest.size() < 2)
    return refuse(rest);
  char next = rest[1];
  auto become = [&](const Twine &text) {
    made += text.str();
    rest = rest.drop_front(2);
    return Error::success();
  };
  switch (next) {
  case 's':
    return become("\\p{White_Space}");
  case 'S':
    return become("\\P{White_Space}");
  case 'w':
    return isInSet ? become(kWord) : become("[" + kWord + kMoreWord + "]");
  case 'W':
    return isInSet ? refuse(rest.take_front(2))
                   : become("[^" + kWord + kMoreWord + "]");
  case 'v':
    return become("\\x{B}");
  case 'p':
  case 'P':
    return property();
  case 'x':
    return number(2);
  case 'u':
    return number(4);
  default:
    break;
  }
  bool isSame = StringRef("dDnrtfae").contains(next) ||
                (!isInSet && StringRef("AzZ").contains(next));
  if (isAlnum(next) && !isSame)
    return refuse(rest.take_front(2));
  return copy(1 + characterLength(rest.drop_front())), Error::success();
}

/// \x41, \x{1F600} and \u2581.
Error Translation::number(size_t digits) {
  StringRef after = rest.drop_front(2);
  bool isBraced = rest[1] == 'x' && after.consume_front("{");
  StringRef hex = after.take_while(isHexDigit);
  if (!isBraced)
    hex = hex.take_front(digits);
  after = after.drop_front(hex.size());
  bool isWhole = isBraced ? !hex.empty() && after.consume_front("}")
                          : hex.size() == digits;
  // \x80 and above are bytes, not characters.
  if (!isWhole || (!isBraced && digits == 2 && hex[0] >= '8'))
    return refuse(rest.take_front(2));
  made += ("\\x{" + hex + "}").str();
  rest = after;
  return Error::success();
}

/// \p{Lu} and \p{Han}. What is longer than a general category is a script: to
/// PCRE2 alone it would be all that texts in this script use.
Error Translation::property() {
  StringRef after = rest.drop_front(2);
  if (!after.consume_front("{"))
    return refuse(rest.take_front(2));
  bool isNegated = after.consume_front("^");
  StringRef name =
      after.take_while([](char c) { return isAlpha(c) || c == '_'; });
  after = after.drop_front(name.size());
  if (name.empty() || !after.consume_front("}"))
    return refuse(rest.take_front(3));
  bool isScript = name.size() > 2 && name != "Any";
  made += rest.take_front(2).str() + "{" + (isNegated ? "^" : "") +
          (isScript ? "sc:" : "") + name.str() + "}";
  rest = after;
  return Error::success();
}

} // namespace

Expected<std::string> pcreSyntax(StringRef pattern) {
  return Translation(pattern).run();
}

} // namespace mp::tokenizers
