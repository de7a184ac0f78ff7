//===- mp-run.cpp - trains, scores and runs modules -----------------------===//
#include "support/Spelling.h"
#include "tools/Tools.h"
#include "tools/common/NamedModels.h"
#include "tools/common/Tool.h"
#include "tools/common/Version.h"
#include "tools/run/Commands.h"
#include "llvm/Support/FormatVariadic.h"

static constexpr char kHelp[] =
    "usage: mp-run COMMAND ...\n\n"
    "  train      train a module's recipe on a folder of data\n"
    "  eval       score a checkpoint on the test data\n"
    "  predict    print the classes that a trained network sees in pictures\n"
    "  generate   print a text that a trained language model writes\n"
    "  run        run any function of a module once\n"
    "  export     write a run's weights alone, for PyTorch\n"
    "  verify     find out whether a checkpoint is what was saved\n"
    "  plan       print the memory that training takes\n"
    "  lint       warn of numbers that will go wrong in training\n"
    "  calibrate  show how large gradients are, and the loss scale that suits\n"
    "  report     make a page of a run: loss, scale, gradients, casts, memory\n"
    "  compare    print runs side by side: loss, accuracy, scale, time, "
    "memory\n"
    "  search     find the cheapest precision of each op within a tolerance\n"
    "  bench      measure a recipe's step, kernel by kernel\n"
    "  tune       measure matrix products on a CUDA device, and write a plan\n"
    "  gradcheck  compare gradient rules of ops with central differences\n"
    "  formats    print what becomes of a number in fp16, bf16 and the others\n"
    "  policies   print what autocast policies make of each op\n"
    "  info       print targets, libraries, the CPU and CUDA devices\n"
    "  help       print this, or the help of a COMMAND\n\n"
    "mp-run help COMMAND says more, as mp-run COMMAND --help does; --version "
    "prints\nthe version. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 "
    "device not available,\n130 and 143 interrupted by SIGINT and SIGTERM with "
    "the checkpoint saved.\n";

using namespace mp::tool;

static int runCommand(llvm::ArrayRef<const char *> arguments);

/// Handles "help" and "help COMMAND".
static int printHelp(llvm::ArrayRef<const char *> arguments) {
  if (arguments.empty()) {
    llvm::outs() << kHelp;
    return 0;
  }
  if (llvm::StringRef(arguments[0]) == "help")
    return printHelp({});
  return runCommand({arguments[0], "--help"});
}

static int runCommand(llvm::ArrayRef<const char *> arguments) {
  if (arguments.empty()) {
    llvm::errs() << kHelp;
    return 2;
  }
  llvm::StringRef word = arguments[0];
  if (word == "--version") {
    llvm::outs() << versionText("mp-run") << "\n";
    return 0;
  }
  if (word == "--help" || word == "-h")
    return printHelp({});
  std::pair<std::string, int (*)(llvm::ArrayRef<const char *>)> commands[] = {
      {"train", train},         {"eval", eval},           {"run", run},
      {"plan", plan},           {"bench", bench},         {"tune", tune},
      {"formats", formatsOf},   {"policies", policies},   {"info", info},
      {"calibrate", calibrate}, {"report", reportRun},    {"search", search},
      {"lint", lint},           {"help", printHelp},      {"export", exportRun},
      {"verify", verifyRun},    {"gradcheck", gradcheck}, {"predict", predict},
      {"compare", compare},     {"generate", generate}};
  std::vector<std::string> names;
  for (auto &[name, command] : commands) {
    if (name == word)
      return command(arguments.drop_front());
    names.push_back(name);
  }
  return report(llvm::make_error<UsageError>(
      llvm::formatv("unknown command '{0}'{1}; mp-run help lists them", word,
                    mp::suggest(word, names))
          .str()));
}

int mp::tool::runMain(int argc, char **argv) {
  nameModels();
  return runTool("mp-run", argc, argv, runCommand);
}
