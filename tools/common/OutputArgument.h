//===- OutputArgument.h - -o of upstream's mains ----------------*- C++ -*-===//
#ifndef MP_TOOLS_COMMON_OUTPUTARGUMENT_H
#define MP_TOOLS_COMMON_OUTPUTARGUMENT_H

#include "support/OutputFile.h"
#include <optional>
#include <vector>

namespace mp::tool {

/// The file after `-o` on a command line. Upstream's mains empty the file
/// before they read their input, which may be the same one, and remove it if
/// they fail. They are given a file beside it, which takes its place if they
/// succeed.
class OutputArgument {
public:
  /// Changes the file in `words`, if there is one.
  explicit OutputArgument(std::vector<char *> &words);

  /// Returns the exit status of the tool, whose main returned `status`.
  int finish(int status);

private:
  std::optional<PendingFile> file;
  std::string word;
};

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_OUTPUTARGUMENT_H
