//===- Commands.h - the subcommands of mp-run -----------------------------===//
#ifndef MP_TOOLS_RUN_COMMANDS_H
#define MP_TOOLS_RUN_COMMANDS_H

#include "tools/common/Common.h"

namespace mp {
struct EvalOptions;
}

namespace mp::tool {

// Each function takes the words after its name and returns the exit code.
int train(llvm::ArrayRef<const char *> arguments);
int eval(llvm::ArrayRef<const char *> arguments);
int run(llvm::ArrayRef<const char *> arguments);
int plan(llvm::ArrayRef<const char *> arguments);
int calibrate(llvm::ArrayRef<const char *> arguments);
int exportRun(llvm::ArrayRef<const char *> arguments);
int verifyRun(llvm::ArrayRef<const char *> arguments);
int reportRun(llvm::ArrayRef<const char *> arguments);
int compare(llvm::ArrayRef<const char *> arguments);
int search(llvm::ArrayRef<const char *> arguments);
int bench(llvm::ArrayRef<const char *> arguments);
int tune(llvm::ArrayRef<const char *> arguments);
int formatsOf(llvm::ArrayRef<const char *> arguments);
int policies(llvm::ArrayRef<const char *> arguments);
int gradcheck(llvm::ArrayRef<const char *> arguments);
int lint(llvm::ArrayRef<const char *> arguments);
int predict(llvm::ArrayRef<const char *> arguments);
int generate(llvm::ArrayRef<const char *> arguments);
int info(llvm::ArrayRef<const char *> arguments);

/// Sets what a command that evaluates a checkpoint takes from the options of
/// all commands.
void takeCommon(EvalOptions &options, const CommonOptions &common);

/// Makes the option --buckets.
Option bucketsOption(std::vector<int64_t> &to);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_COMMANDS_H
