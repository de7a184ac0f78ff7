//===- mp-data.cpp - makes arrays that mp.data reads ----------------------===//
#include "support/Spelling.h"
#include "tools/Tools.h"
#include "tools/common/Tool.h"
#include "tools/common/Version.h"
#include "tools/data/Commands.h"
#include "llvm/Support/FormatVariadic.h"

static constexpr char kHelp[] =
    "usage: mp-data COMMAND ...\n\n"
    "  tokenize       write the tokens of texts, or of a field of JSON lines "
    "or "
    "CSV\n"
    "  detokenize     print the text of a file of tokens\n"
    "  class-weights  write the weights that balance classes\n\n"
    "mp-data COMMAND --help says more; --version prints the version. Exit "
    "codes: 0 done,\n1 failed, 2 wrong usage.\n";

using namespace mp::tool;

static int runCommand(llvm::ArrayRef<const char *> arguments) {
  llvm::StringRef word = arguments.empty() ? "" : arguments[0];
  if (arguments.empty()) {
    llvm::errs() << kHelp;
    return 2;
  }
  if (word == "--version") {
    llvm::outs() << versionText("mp-data") << "\n";
    return 0;
  }
  if (word == "--help" || word == "-h" || word == "help") {
    llvm::outs() << kHelp;
    return 0;
  }
  std::pair<std::string, int (*)(llvm::ArrayRef<const char *>)> commands[] = {
      {"tokenize", tokenize},
      {"detokenize", detokenize},
      {"class-weights", classWeights}};
  std::vector<std::string> names;
  for (auto &[name, command] : commands) {
    if (name == word)
      return command(arguments.drop_front());
    names.push_back(name);
  }
  return report(llvm::make_error<UsageError>(
      llvm::formatv("unknown command '{0}'{1}; mp-data help lists them", word,
                    mp::suggest(word, names))
          .str()));
}

int mp::tool::dataMain(int argc, char **argv) {
  return runTool("mp-data", argc, argv, runCommand);
}
