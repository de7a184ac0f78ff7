//===- OutputArgument.cpp - -o of upstream's mains ------------------------===//
#include "tools/common/OutputArgument.h"
#include "support/Error.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace mp::tool {

OutputArgument::OutputArgument(std::vector<char *> &words) {
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef text = words[i], option = text;
    if (!option.consume_front("-"))
      continue;
    option.consume_front("-");
    bool isNext = option == "o" && i + 1 < words.size();
    StringRef path = isNext ? StringRef(words[i + 1]) : option;
    if (!isNext && !path.consume_front("o="))
      continue;
    if (path.empty() || path == "-")
      return;
    file.emplace(path);
    word = (isNext ? "" : text.drop_back(path.size()).str()) + file->name();
    words[isNext ? i + 1 : i] = word.data();
    return;
  }
}

int OutputArgument::finish(int status) {
  if (status != 0 || !file)
    return status;
  if (Error error = file->commit()) {
    errs() << "error: " << withoutControls(toString(std::move(error))) << "\n";
    return 1;
  }
  return 0;
}

} // namespace mp::tool
