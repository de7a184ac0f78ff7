//===- Spelling.h - suggestions for misspelt names ------------------------===//
#ifndef MP_SUPPORT_SPELLING_H
#define MP_SUPPORT_SPELLING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mp {

/// Returns the entries of `names` that resemble `name` most, best first, at
/// most `limit`. Case does not count, a transposition counts as one error, and
/// a name that contains the whole of `name` is as near as possible. Entries
/// that share less than half of their letters with it are left out.
std::vector<std::string> nearestNames(llvm::StringRef name,
                                      llvm::ArrayRef<std::string> names,
                                      size_t limit = 3);

/// Returns the tail of a message about an unknown name: ", did you mean 'a' or
/// 'b'?" if some name is near, else " (known: 'a', 'b', ...)".
std::string suggest(llvm::StringRef name, llvm::ArrayRef<std::string> names);

/// Returns "'a', 'b', 'c'"; past `limit` names: "... and 7 more".
std::string quoteList(llvm::ArrayRef<std::string> names, size_t limit = 8);

} // namespace mp

#endif // MP_SUPPORT_SPELLING_H
