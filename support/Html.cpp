//===- Html.cpp - HTML in which no text can be taken for a tag ------------===//
#include "support/Html.h"
#include "support/Error.h"
#include "support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace mp {

std::string printableText(StringRef text) {
  constexpr StringLiteral replacement = "\xEF\xBF\xBD"; // U+FFFD
  std::string whole = validUtf8(text), valid, shown;
  for (StringRef rest = whole; !rest.empty();) {
    size_t length = controlLength(rest, shown);
    valid += length ? StringRef(replacement) : rest.take_front(1);
    rest = rest.drop_front(std::max<size_t>(length, 1));
  }
  return valid;
}

std::string escapeHtml(StringRef text) {
  std::string escaped;
  raw_string_ostream os(escaped);
  printHTMLEscaped(printableText(text), os);
  return escaped;
}

void Html::begin(StringRef tag, Attributes attributes) {
  os << '<' << tag;
  for (const Attribute &attribute : attributes)
    os << ' ' << attribute.name << "=\"" << escapeHtml(attribute.value) << '"';
}

Html &Html::open(StringLiteral tag, Attributes attributes) {
  begin(tag, attributes);
  os << '>';
  openTags.push_back(tag);
  return *this;
}

Html &Html::close() {
  os << "</" << openTags.back() << '>';
  // Line breaks only make the source readable.
  if (openTags.back() != "title" && openTags.back() != "a")
    os << '\n';
  openTags.pop_back();
  return *this;
}

Html &Html::text(const Twine &text) {
  os << escapeHtml(text.str());
  return *this;
}

Html &Html::element(StringLiteral tag, const Twine &content,
                    Attributes attributes) {
  begin(tag, attributes);
  os << '>' << escapeHtml(content.str()) << "</" << tag << '>';
  return *this;
}

Html &Html::empty(StringLiteral tag, Attributes attributes) {
  begin(tag, attributes);
  os << "/>";
  return *this;
}

Html &Html::literal(StringLiteral markup) {
  os << markup;
  return *this;
}

std::string shortNumber(double value) {
  if (!std::isfinite(value))
    return "not finite";
  std::string text;
  raw_string_ostream(text) << format("%.4g", value);
  return text;
}

std::string countText(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t end = text.size(); end > 3; end -= 3)
    text.insert(end - 3, ",");
  return text;
}

std::string shareText(double share) {
  if (!(share > 0))
    return "0";
  if (share < 1e-4)
    return "< 0.01%";
  std::string text;
  raw_string_ostream(text) << format(share < 0.1 ? "%.2f%%" : "%.1f%%",
                                     share * 100);
  return text;
}

std::string pluralText(uint64_t count, StringRef noun) {
  return countText(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

} // namespace mp
