//===- ShellWord.h - words of a command, quoted for a shell -----*- C++ -*-===//
#ifndef MP_SUPPORT_SHELLWORD_H
#define MP_SUPPORT_SHELLWORD_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <string>

namespace mp {

/// Returns a word as a shell reads it back, in quotes if it needs them.
inline std::string shellWord(llvm::StringRef word) {
  auto isPlain = [](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("-_./,=+:@%").contains(c);
  };
  if (!word.empty() && llvm::all_of(word, isPlain))
    return word.str();
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

} // namespace mp

#endif // MP_SUPPORT_SHELLWORD_H
