//===- JsonReader.cpp - reads JSON without keeping it ---------------------===//
#include "support/JsonReader.h"
#include "support/Error.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include <charconv>

using namespace llvm;

namespace mp {
namespace {

bool isHighSurrogate(unsigned unit) { return unit >> 10 == 0xD800 >> 10; }
bool isLowSurrogate(unsigned unit) { return unit >> 10 == 0xDC00 >> 10; }

unsigned unitOf(StringRef hex) {
  unsigned unit = 0;
  for (char c : hex)
    unit = unit * 16 + hexDigitValue(c);
  return unit;
}

void appendUtf8(unsigned codePoint, std::string &to) {
  char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
  char *end = bytes;
  ConvertCodePointToUTF8(codePoint, end);
  to.append(bytes, end);
}

/// Whether a number that std::from_chars finds out of range is too large, not
/// too small: a digit other than zero stands before the point, or the exponent
/// outweighs the zeros after it.
bool isTooLarge(StringRef number) {
  number.consume_front("-");
  size_t e = number.find_first_of("eE");
  auto [whole, fraction] = number.take_front(e).split('.');
  StringRef exponentText = e == StringRef::npos ? "0" : number.substr(e + 1);
  bool isNegative = exponentText.consume_front("-");
  exponentText.consume_front("+");
  int64_t exponent;
  if (exponentText.getAsInteger(10, exponent))
    return !isNegative; // has more digits than any number has zeros
  exponent = std::min(exponent, int64_t(1) << 40); // no text is as long
  StringRef significant = whole.ltrim('0');
  int64_t place = significant.empty()
                      ? -int64_t(fraction.size() - fraction.ltrim('0').size())
                      : int64_t(significant.size());
  return place + (isNegative ? -exponent : exponent) > 0;
}

} // namespace

std::string JsonReader::String::str() const {
  std::string value;
  value.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      value += raw[i];
      continue;
    }
    char c = raw[++i];
    if (c != 'u') {
      size_t which = StringRef("bfnrt").find(c);
      value += which == StringRef::npos ? c : "\b\f\n\r\t"[which];
      continue;
    }
    unsigned unit = unitOf(raw.substr(i + 1, 4));
    i += 4;
    if (isHighSurrogate(unit)) { // "\uDC00" follows
      unit = 0x10000 + ((unit & 0x3FF) << 10) +
             (unitOf(raw.substr(i + 3, 4)) & 0x3FF);
      i += 6;
    }
    appendUtf8(unit, value);
  }
  return value;
}

bool JsonReader::fail(const Twine &message) {
  if (problem.empty())
    problem = ("byte " + Twine(at) + ": " + message).str();
  return true;
}

bool JsonReader::unexpected(const Twine &expected) {
  if (at == text.size())
    return fail("expected " + expected + ", found the end");
  return fail("expected " + expected + ", found " +
              printableHead(text.substr(at, 24)));
}

void JsonReader::skipBlanks() {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' ||
                              text[at] == '\t' || text[at] == '\r'))
    ++at;
}

size_t JsonReader::place() {
  skipBlanks();
  return at;
}

bool JsonReader::consume(char c) {
  if (at == text.size() || text[at] != c)
    return false;
  ++at;
  return true;
}

bool JsonReader::consumeNull() {
  skipBlanks();
  if (!text.substr(at).starts_with("null"))
    return false;
  at += 4;
  return true;
}

bool JsonReader::open(char bracket) {
  skipBlanks();
  if (!consume(bracket))
    return unexpected(bracket == '{' ? "an object" : "an array");
  return ++depth > kMostNesting &&
         fail("nests deeper than " + Twine(kMostNesting));
}

bool JsonReader::next(char close, bool first, bool &more) {
  skipBlanks();
  more = !consume(close);
  if (!more) {
    --depth;
    return false;
  }
  if (first)
    return false;
  if (!consume(','))
    return unexpected(close == '}' ? "',' or '}'" : "',' or ']'");
  skipBlanks();
  return at < text.size() && text[at] == close && fail("a comma too many");
}

bool JsonReader::key(String &value) {
  if (string(value))
    return true;
  skipBlanks();
  return !consume(':') && unexpected("':'");
}

bool JsonReader::hexDigits(unsigned &value) {
  StringRef digits = text.substr(at, 4);
  if (digits.size() < 4 || !all_of(digits, isHexDigit))
    return unexpected("four hexadecimal digits");
  value = unitOf(digits);
  at += 4;
  return false;
}

/// Reads what follows a backslash.
bool JsonReader::escape() {
  if (at < text.size() && StringRef("\"\\/bfnrt").contains(text[at])) {
    ++at;
    return false;
  }
  unsigned unit = 0, low = 0;
  if (!consume('u'))
    return unexpected("an escape of JSON");
  if (hexDigits(unit))
    return true;
  if (isLowSurrogate(unit))
    return fail("the second half of a surrogate pair, alone");
  if (!isHighSurrogate(unit))
    return false;
  if (!consume('\\') || !consume('u') || hexDigits(low) || !isLowSurrogate(low))
    return fail("the first half of a surrogate pair, alone");
  return false;
}

bool JsonReader::string(String &value) {
  skipBlanks();
  if (!consume('"'))
    return unexpected("a string");
  size_t begin = at;
  value.hasEscapes = false;
  while (at < text.size()) {
    char c = text[at];
    if (c == '"') {
      value.raw = text.slice(begin, at++);
      return false;
    }
    if (static_cast<unsigned char>(c) < 0x20)
      return fail("a control character in a string");
    ++at;
    if (c != '\\')
      continue;
    value.hasEscapes = true;
    if (escape())
      return true;
  }
  return fail("a string is not closed");
}

bool JsonReader::number(StringRef &digits) {
  size_t begin = at;
  auto takeDigits = [&] {
    size_t first = at;
    while (at < text.size() && isDigit(text[at]))
      ++at;
    return at > first;
  };
  consume('-');
  if (consume('0')) {
    if (at < text.size() && isDigit(text[at]))
      return fail("a number begins with 0");
  } else if (!takeDigits()) {
    return unexpected("a value");
  }
  if (consume('.') && !takeDigits())
    return unexpected("a digit");
  if (consume('e') || consume('E')) {
    if (!consume('+'))
      consume('-');
    if (!takeDigits())
      return unexpected("a digit");
  }
  digits = text.slice(begin, at);
  return false;
}

bool JsonReader::natural(uint64_t &value) {
  skipBlanks();
  StringRef digits;
  size_t begin = at;
  if (number(digits))
    return true;
  if (all_of(digits, isDigit) && !digits.getAsInteger(10, value))
    return false;
  at = begin;
  return unexpected("a natural number of 64 bits");
}

bool JsonReader::scalar() {
  for (StringRef word : {"true", "false", "null"})
    if (text.substr(at).starts_with(word)) {
      at += word.size();
      return false;
    }
  if (at < text.size() && text[at] == '"') {
    String ignored;
    return string(ignored);
  }
  StringRef digits;
  if (number(digits))
    return true;
  double value;
  auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  return error == std::errc::result_out_of_range && isTooLarge(digits) &&
         fail("a number is out of range");
}

bool JsonReader::skip() {
  SmallVector<char, kMostNesting> closers; // of what is open
  String ignored;
  do {
    skipBlanks();
    char c = at < text.size() ? text[at] : 0;
    if (c == '{' || c == '[') {
      closers.push_back(c == '{' ? '}' : ']');
      if (open(c))
        return true;
    } else if (scalar()) {
      return true;
    }
    // The value ends here, unless it was opened just now.
    bool first = c == '{' || c == '[', more = false;
    while (!closers.empty() && !more) {
      if (next(closers.back(), first, more))
        return true;
      if (more && closers.back() == '}' && key(ignored))
        return true;
      if (!more)
        closers.pop_back();
      first = false;
    }
  } while (!closers.empty());
  return false;
}

bool JsonReader::end() {
  skipBlanks();
  return at != text.size() && unexpected("the end");
}

} // namespace mp
