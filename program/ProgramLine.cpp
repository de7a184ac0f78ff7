//===- ProgramLine.cpp - reads the words of one line of a Program ---------===//
#include "program/ProgramLine.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <charconv>
#include <cmath>

using namespace mp;
using namespace mp::text;

bool Line::fail(const llvm::Twine &message) {
  if (problem.empty())
    problem = message.str();
  return true;
}

void Line::skipBlank() {
  rest = rest.ltrim(" \t\r");
  if (rest.starts_with(";"))
    rest = "";
}

std::string Line::found() const {
  if (rest.empty())
    return "the end of the line";
  std::string text = "'";
  llvm::raw_string_ostream os(text);
  llvm::printEscapedString(rest.take_until(llvm::isSpace).take_front(40), os);
  return text + "'";
}

bool Line::end() { return !rest.empty() && fail("unexpected " + found()); }

bool Line::peek(llvm::StringRef text) const {
  return rest.take_while(isBare) == text;
}

bool Line::consume(llvm::StringRef text) {
  if (!peek(text))
    return false;
  rest = rest.drop_front(text.size());
  skipBlank();
  return true;
}

bool Line::expect(llvm::StringRef text) {
  return !consume(text) && fail("expected '" + text + "', found " + found());
}

bool Line::consumeCharacter(char c) {
  return rest.consume_front(llvm::StringRef(&c, 1));
}

bool Line::expectCharacter(char c) {
  if (consumeCharacter(c))
    return false;
  std::string message = "expected '";
  message += c;
  return fail(message + "', found " + found());
}

bool Line::unknown() { return fail("unknown word " + found()); }

bool Line::word(llvm::StringRef &value, llvm::StringRef what) {
  value = rest.take_while(isBare);
  if (value.empty())
    return fail("expected " + what + ", found " + found());
  rest = rest.drop_front(value.size());
  // A comment begins at a blank only: "a;b" is not a word and a comment.
  if (rest.empty() || llvm::isSpace(rest.front()))
    skipBlank();
  return false;
}

bool Line::quoted(std::string &value) {
  value.clear();
  for (rest = rest.drop_front(); !rest.empty(); rest = rest.drop_front()) {
    if (rest.consume_front("\"")) {
      if (rest.empty() || llvm::isSpace(rest.front()))
        skipBlank();
      return false;
    }
    if (rest.front() != '\\') {
      value += rest.front();
      continue;
    }
    if (rest.size() >= 2 && rest[1] == '\\') {
      value += '\\';
      rest = rest.drop_front();
      continue;
    }
    if (rest.size() < 3 || !llvm::isHexDigit(rest[1]) ||
        !llvm::isHexDigit(rest[2]))
      return fail("expected two hexadecimal digits after '\\'");
    value += static_cast<char>(llvm::hexFromNibbles(rest[1], rest[2]));
    rest = rest.drop_front(2);
  }
  return fail("a quoted name is not closed");
}

bool Line::name(std::string &value, llvm::StringRef what) {
  if (rest.starts_with("\""))
    return quoted(value);
  llvm::StringRef bare;
  if (word(bare, what))
    return true;
  value = bare.str();
  return false;
}

bool Line::integer(int64_t &value, llvm::StringRef what, int64_t least,
                   int64_t most) {
  llvm::StringRef text;
  if (word(text, what))
    return true;
  if (text.getAsInteger(10, value))
    return fail("expected " + what + ", found '" + text + "'");
  if (value < least || value > most)
    return fail(what + " must lie between " + llvm::Twine(least) + " and " +
                llvm::Twine(most) + ", found " + text);
  return false;
}

bool Line::unsignedValue(uint64_t &value, llvm::StringRef what, uint64_t most) {
  llvm::StringRef text;
  if (word(text, what))
    return true;
  if (text.getAsInteger(10, value))
    return fail("expected " + what + ", found '" + text + "'");
  if (value > most)
    return fail(what + " must be at most " + llvm::Twine(most) + ", found " +
                text);
  return false;
}

bool Line::number(double &value, llvm::StringRef what) {
  // This is not read as a word: an exponent may hold '+'.
  llvm::StringRef text = rest.take_until(llvm::isSpace);
  auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || end != text.end())
    return fail("expected " + what + ", found " + found());
  rest = rest.drop_front(text.size());
  skipBlank();
  return false;
}

bool Line::elementType(ElementType &type) {
  llvm::StringRef text;
  if (word(text, "an element type"))
    return true;
  std::optional<ElementType> parsed = parseElementType(text);
  if (!parsed)
    return fail("unknown element type '" + text + "'");
  type = *parsed;
  return false;
}

bool Line::tensor(TensorType &type) {
  llvm::StringRef text;
  if (word(text, "a tensor type"))
    return true;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, 'x');
  std::optional<ElementType> element = parseElementType(parts.pop_back_val());
  if (!element)
    return fail("expected a tensor type, found '" + text + "'");
  type.element = *element;
  type.shape.clear();
  uint64_t bytes = byteWidth(*element);
  for (llvm::StringRef part : parts) {
    uint64_t dim = 0;
    if (part.empty() || part.getAsInteger(10, dim))
      return fail("expected a tensor type, found '" + text + "'");
    bytes = llvm::SaturatingMultiply(bytes, std::max<uint64_t>(dim, 1));
    if (bytes > kMostBytes)
      return fail("tensor '" + text + "' is too large");
    type.shape.push_back(static_cast<int64_t>(dim));
  }
  return false;
}

bool Line::location(Location &location) {
  if (!consume("at"))
    return false;
  if (name(location.file, "a file name") || expectCharacter(':') ||
      unsignedInteger(location.line, "a line", UINT32_MAX) ||
      expectCharacter(':') ||
      unsignedInteger(location.column, "a column", UINT32_MAX))
    return true;
  while (consume("in"))
    if (unsignedInteger(location.timeSteps.emplace_back(), "a time step",
                        UINT32_MAX))
      return true;
  return false;
}

bool Line::attribute(Call::Attribute &value) {
  if (rest.starts_with("\"")) {
    std::string text;
    if (quoted(text))
      return true;
    value = std::move(text);
    return false;
  }
  int64_t integerValue = 0;
  if (!rest.consume_front("[")) {
    if (integer(integerValue, "a value"))
      return true;
    value = integerValue;
    return false;
  }
  std::vector<int64_t> list;
  while (!rest.starts_with("]")) {
    if ((!list.empty() && expectCharacter(',')) ||
        integer(integerValue, "an integer"))
      return true;
    list.push_back(integerValue);
  }
  rest = rest.drop_front();
  skipBlank();
  value = std::move(list);
  return false;
}

bool Line::list(llvm::StringRef word, std::vector<int64_t> &numbers) {
  if (!consume(word))
    return false;
  Call::Attribute value;
  if (attribute(value))
    return true;
  auto *found = std::get_if<std::vector<int64_t>>(&value);
  if (!found)
    return fail("expected a list of numbers after " + word);
  numbers = std::move(*found);
  return false;
}
