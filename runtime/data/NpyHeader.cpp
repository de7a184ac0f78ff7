//===- NpyHeader.cpp - reads the header of an npy file --------------------===//
#include "runtime/data/NpyHeader.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp {

ArrayRef<std::pair<StringLiteral, ElementType>> npyDtypes() {
  static constexpr std::pair<StringLiteral, ElementType> all[] = {
      {"f2", ElementType::F16}, {"f4", ElementType::F32},
      {"f8", ElementType::F64}, {"i1", ElementType::I8},
      {"u1", ElementType::U8},  {"i4", ElementType::I32},
      {"i8", ElementType::I64}, {"b1", ElementType::I1},
      {"i2", ElementType::I16}, {"u2", ElementType::U16},
      {"u4", ElementType::U32},
  };
  return all;
}

std::optional<ElementType> parseNpyDtype(StringRef descr) {
  bool isBigEndian = descr.starts_with(">");
  if (!descr.empty() && StringRef("<>=|").contains(descr.front()))
    descr = descr.drop_front();
  if (descr == "?")
    descr = "b1";
  for (auto [name, element] : npyDtypes())
    if (descr == name && (!isBigEndian || byteWidth(element) == 1))
      return element;
  return std::nullopt;
}

bool NpyHeader::fail(const Twine &message) {
  if (problem.empty())
    problem =
        ("byte " + Twine(text.size() - rest.size()) + ": " + message).str();
  return true;
}

bool NpyHeader::expected(const Twine &what) {
  return fail("expected " + what + ", found " +
              (rest.empty() ? "the end" : printableHead(rest)));
}

bool NpyHeader::string(StringRef &value) {
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
    return expected("a string in quotes");
  StringRef quote = rest.take_front(1);
  value = rest.drop_front().split(quote).first;
  if (value.size() + 2 > rest.size() ||
      value.find_first_of("\\\r\n") != StringRef::npos)
    return expected("a string without escapes, in one line");
  rest = rest.drop_front(value.size() + 2);
  return false;
}

bool NpyHeader::boolean() {
  StringRef word =
      rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
  if (word != "True" && word != "False")
    return expected("True or False");
  fortranOrder = word == "True";
  rest = rest.drop_front(word.size());
  return false;
}

bool NpyHeader::size(int64_t &value) {
  rest.consume_front("+");
  StringRef digits = rest.take_while([](char c) { return isDigit(c); });
  // Python takes "00", but no other number that begins with 0.
  if (digits.empty() || (digits[0] == '0' && !digits.ltrim('0').empty()) ||
      digits.getAsInteger(10, value))
    return expected("a size of at most 63 bits");
  rest = rest.drop_front(digits.size());
  if (hasLongs)
    rest.consume_front("L");
  return false;
}

bool NpyHeader::tuple() {
  std::vector<int64_t> sizes;
  bool hasComma = false;
  if (!rest.consume_front("("))
    return expected("a tuple of sizes");
  for (skipBlanks(); !rest.consume_front(")"); skipBlanks()) {
    if (!sizes.empty() && !hasComma)
      return expected("',' or ')'");
    if (size(sizes.emplace_back()))
      return true;
    skipBlanks();
    hasComma = rest.consume_front(",");
  }
  if (sizes.size() == 1 && !hasComma) // "(6)" is a number
    return fail("expected a tuple of sizes, found a number in parentheses");
  shape = std::move(sizes);
  return false;
}

bool NpyHeader::entry() {
  StringRef key, value;
  StringRef before = rest;
  if (string(key))
    return true;
  skipBlanks();
  if (!rest.consume_front(":"))
    return expected("':'");
  skipBlanks();
  if (key == "descr") {
    if (string(value))
      return true;
    descr = value;
    return false;
  }
  if (key == "fortran_order")
    return boolean();
  if (key == "shape")
    return tuple();
  rest = before;
  return expected("'descr', 'fortran_order' or 'shape'");
}

bool NpyHeader::read() {
  // Python takes blanks or empty lines before an expression, in this order.
  rest = rest.ltrim(" \t").ltrim("\r\n");
  if (!rest.consume_front("{"))
    return expected("a dict");
  bool hasComma = true;
  for (skipBlanks(); !rest.consume_front("}"); skipBlanks()) {
    if (!hasComma)
      return expected("',' or '}'");
    if (entry())
      return true;
    skipBlanks();
    hasComma = rest.consume_front(",");
  }
  skipBlanks();
  if (!rest.empty())
    return expected("the end");
  if (!descr || !fortranOrder || !shape)
    return fail("expected 'descr', 'fortran_order' and 'shape'");
  return false;
}

} // namespace mp
