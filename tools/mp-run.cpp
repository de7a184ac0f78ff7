//===- mp-run.cpp - trains, scores and runs modules -----------------------===//
#include "runtime/Error.h"
#include "tools/run/Commands.h"

static constexpr char help[] =
    "usage: mp-run COMMAND ...\n\n"
    "  train  train a module's recipe on a folder of data\n"
    "  eval   score a checkpoint on the test data\n"
    "  run    run any function of a module once\n"
    "  info   targets, libraries and the CPU\n\n"
    "mp-run COMMAND --help says more. Exit codes: 0 done, 1 failed, 2 wrong "
    "usage,\n3 device not available, 130 interrupted with the checkpoint "
    "saved.\n";

int main(int argc, char **argv) {
  using namespace mp::tool;
  llvm::ArrayRef<const char *> arguments(argv + 1, argv + argc);
  if (arguments.empty() || llvm::StringRef(arguments[0]) == "--help" ||
      llvm::StringRef(arguments[0]) == "-h") {
    (arguments.empty() ? llvm::errs() : llvm::outs()) << help;
    return arguments.empty() ? 2 : 0;
  }
  std::pair<std::string, int (*)(llvm::ArrayRef<const char *>)> commands[] = {
      {"train", train}, {"eval", eval}, {"run", run}, {"info", info}};
  std::vector<std::string> names;
  for (auto &[name, command] : commands) {
    if (name == arguments[0])
      return command(arguments.drop_front());
    names.push_back(name);
  }
  return report(llvm::make_error<UsageError>("unknown command '" +
                                             std::string(arguments[0]) + "'" +
                                             mp::suggest(arguments[0], names)));
}
