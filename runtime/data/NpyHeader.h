//===- NpyHeader.h - reads the header of an npy file ----------------------===//
#ifndef MP_RUNTIME_DATA_NPYHEADER_H
#define MP_RUNTIME_DATA_NPYHEADER_H

#include "program/Program.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <optional>

namespace mp {

/// The text of an npy header, a literal of a Python dict. What NumPy refuses is
/// refused; of what it takes, spellings that NumPy does not write (escapes,
/// comments, hexadecimal sizes, structured dtypes) are refused, too.
class NpyHeader {
public:
  /// `hasLongs`: sizes may be written as Python 2 did, "128L".
  NpyHeader(llvm::StringRef text, bool hasLongs)
      : text(text), rest(text), hasLongs(hasLongs) {}

  /// Reads the dict. As in LLVM's parsers, true means that it failed.
  bool read();
  const std::string &message() const { return problem; }

  /// What read() found; of keys that are there twice the last, as in Python.
  std::optional<llvm::StringRef> descr; ///< without quotes
  std::optional<bool> fortranOrder;
  std::optional<std::vector<int64_t>> shape;

private:
  bool fail(const llvm::Twine &message);
  bool expected(const llvm::Twine &what);
  void skipBlanks() { rest = rest.ltrim(" \t\r\n\f"); }
  bool entry();
  bool string(llvm::StringRef &value);
  bool boolean();
  bool tuple();
  bool size(int64_t &value);

  llvm::StringRef text, rest;
  bool hasLongs;
  std::string problem;
};

/// Returns the element type of a `descr` such as "<f4". None: it is not
/// little-endian, or not one of Mantissa's.
std::optional<ElementType> parseNpyDtype(llvm::StringRef descr);

/// The dtypes without byte order: "f4".
llvm::ArrayRef<std::pair<llvm::StringLiteral, ElementType>> npyDtypes();

} // namespace mp

#endif // MP_RUNTIME_DATA_NPYHEADER_H
