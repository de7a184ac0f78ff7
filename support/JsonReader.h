//===- JsonReader.h - reads JSON without keeping it -----------------------===//
#ifndef MP_SUPPORT_JSONREADER_H
#define MP_SUPPORT_JSONREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mp {

/// Reads the JSON text of a file that is not trusted, in one pass from its
/// first byte to its last. It builds nothing and does not recurse, so that its
/// memory does not grow with the text, and it takes nothing that RFC 8259 does
/// not allow, such as "02" or half of a surrogate pair. The text must be UTF-8.
///
/// As in LLVM's parsers, a function that returns true has failed; the first
/// failure's message is kept.
class JsonReader {
public:
  /// The deepest nesting that is read, that of serde_json.
  static constexpr unsigned kMostNesting = 127;

  explicit JsonReader(llvm::StringRef text) : text(text) {}

  /// A string as it is written, without its quotes.
  struct String {
    llvm::StringRef raw;
    bool hasEscapes = false;
    /// Returns the string that it stands for.
    std::string str() const;
    /// Returns the same; `storage` holds it if it has escapes.
    llvm::StringRef plain(std::string &storage) const {
      return hasEscapes ? llvm::StringRef(storage = str()) : raw;
    }
  };

  /// Reads an object; `member(const String &key)` reads the value of each key.
  template <typename Member> bool object(Member member);
  /// Reads an array; `element()` reads each value.
  template <typename Element> bool array(Element element);
  bool string(String &value);
  /// Reads an integer of 64 bits without sign, fraction and exponent.
  bool natural(uint64_t &value);
  /// Reads any value.
  bool skip();
  /// Steps over `null` if it comes next.
  bool consumeNull();
  /// Fails unless the text ends here.
  bool end();

  /// Returns the place of the next value in the text.
  size_t place();
  /// Fails with the place that was reached.
  bool fail(const llvm::Twine &message);
  const std::string &message() const { return problem; }

private:
  void skipBlanks();
  bool consume(char c);
  bool open(char bracket);
  /// Goes to the next item before `close`, or past `close`: then `more` is
  /// false.
  bool next(char close, bool first, bool &more);
  bool key(String &value);
  bool escape();
  bool hexDigits(unsigned &value);
  bool number(llvm::StringRef &digits);
  bool scalar();
  bool unexpected(const llvm::Twine &expected);

  llvm::StringRef text;
  size_t at = 0;
  unsigned depth = 0;
  std::string problem;
};

template <typename Member> bool JsonReader::object(Member member) {
  if (open('{'))
    return true;
  String name;
  for (bool first = true, more = true;; first = false) {
    if (next('}', first, more))
      return true;
    if (!more)
      return false;
    if (key(name) || member(name))
      return true;
  }
}

template <typename Element> bool JsonReader::array(Element element) {
  if (open('['))
    return true;
  for (bool first = true, more = true;; first = false) {
    if (next(']', first, more))
      return true;
    if (!more)
      return false;
    if (element())
      return true;
  }
}

} // namespace mp

#endif // MP_SUPPORT_JSONREADER_H
