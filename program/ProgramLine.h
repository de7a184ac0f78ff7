//===- ProgramLine.h - reads the words of one line of a Program -----------===//
#ifndef MP_PROGRAM_PROGRAMLINE_H
#define MP_PROGRAM_PROGRAMLINE_H

#include "program/ProgramText.h"
#include "llvm/ADT/Twine.h"
#include <utility>

namespace mp::text {

/// A cursor over one line. As in LLVM's parsers, a function that returns true
/// has failed; the first failure's message is kept.
class Line {
public:
  explicit Line(llvm::StringRef text = "") : rest(text.rtrim()) { skipBlank(); }

  bool atEnd() const { return rest.empty(); }
  /// Fails unless the line has been read to its end.
  bool end();

  /// Whether the next word is `text`; does not move.
  bool peek(llvm::StringRef text) const;
  /// Whether a digit comes next; does not move.
  bool atNumber() const { return !rest.empty() && llvm::isDigit(rest.front()); }
  /// Steps over the word `text` if it comes next.
  bool consume(llvm::StringRef text);
  /// Steps over the word `text`, which must come next.
  bool expect(llvm::StringRef text);
  /// Steps over the character `c`, without blanks before or after it.
  bool expectCharacter(char c);
  bool consumeCharacter(char c);
  /// Returns the rest of the line.
  llvm::StringRef takeRest() { return std::exchange(rest, ""); }
  /// Fails: no line begins with the next word.
  bool unknown();

  /// Reads a run of bare characters, which must not be empty.
  bool word(llvm::StringRef &value, llvm::StringRef what);
  /// Reads a bare or quoted name.
  bool name(std::string &value, llvm::StringRef what);
  /// Reads a number in [least, most].
  bool integer(int64_t &value, llvm::StringRef what, int64_t least = INT64_MIN,
               int64_t most = INT64_MAX);
  template <typename T>
  bool unsignedInteger(T &value, llvm::StringRef what, uint64_t most);
  bool number(double &value, llvm::StringRef what);
  bool tensor(TensorType &type);
  bool elementType(ElementType &type);
  /// Reads `at FILE:LINE:COLUMN`, or nothing.
  bool location(Location &location);
  bool attribute(Call::Attribute &value);
  /// Reads `WORD [1,2]`, or nothing.
  bool list(llvm::StringRef word, std::vector<int64_t> &numbers);

  /// Keeps the first message and returns true.
  bool fail(const llvm::Twine &message);
  const std::string &message() const { return problem; }

private:
  void skipBlank();
  /// Returns the text found instead of the expected one, for messages.
  std::string found() const;
  bool quoted(std::string &value);
  bool unsignedValue(uint64_t &value, llvm::StringRef what, uint64_t most);

  llvm::StringRef rest;
  std::string problem;
};

template <typename T>
bool Line::unsignedInteger(T &value, llvm::StringRef what, uint64_t most) {
  uint64_t wide = 0;
  if (unsignedValue(wide, what, most))
    return true;
  value = static_cast<T>(wide);
  return false;
}

} // namespace mp::text

#endif // MP_PROGRAM_PROGRAMLINE_H
