//===- Html.h - HTML in which no text can be taken for a tag ----*- C++ -*-===//
#ifndef MP_SUPPORT_HTML_H
#define MP_SUPPORT_HTML_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace mp {

/// Returns text in which bytes that are not UTF-8, and characters that are not
/// printable, are U+FFFD.
std::string printableText(llvm::StringRef text);

/// Escapes printable text for HTML, also for attributes in quotes.
std::string escapeHtml(llvm::StringRef text);

/// Writes elements of HTML and SVG. Tags and names of attributes can only be
/// literals; everything else is escaped, so that a name from a user's file
/// stays text.
class Html {
public:
  struct Attribute {
    llvm::StringLiteral name;
    std::string value;
  };
  using Attributes = std::initializer_list<Attribute>;

  explicit Html(llvm::raw_ostream &os) : os(os) {}

  Html &open(llvm::StringLiteral tag, Attributes attributes = {});
  /// Closes the innermost element that is open.
  Html &close();
  Html &text(const llvm::Twine &text);
  /// Writes an element that contains only text.
  Html &element(llvm::StringLiteral tag, const llvm::Twine &text,
                Attributes attributes = {});
  /// Writes an empty element.
  Html &empty(llvm::StringLiteral tag, Attributes attributes = {});
  /// Writes text without escaping it.
  Html &literal(llvm::StringLiteral markup);

  /// Returns a number that no other call has returned, for ids.
  unsigned unique() { return ++last; }

private:
  void begin(llvm::StringRef tag, Attributes attributes);

  llvm::raw_ostream &os;
  std::vector<llvm::StringLiteral> openTags;
  unsigned last = 0;
};

/// "0.2635", "1.2e-07"; "not finite" for NaN and infinities.
std::string shortNumber(double value);
/// "400,000"
std::string countText(uint64_t count);
/// "0.02%", "0" for none, "< 0.01%" for few.
std::string shareText(double share);
/// "1 step", "2 steps"
std::string pluralText(uint64_t count, llvm::StringRef noun);

} // namespace mp

#endif // MP_SUPPORT_HTML_H
