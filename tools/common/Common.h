//===- Common.h - options that several tools share --------------*- C++ -*-===//
#ifndef MP_TOOLS_COMMON_COMMON_H
#define MP_TOOLS_COMMON_COMMON_H

#include "precision/compare/Measure.h"
#include "program/Compiler.h"
#include "tools/common/Options.h"

namespace mp::tool {

/// Options that most tools and subcommands share.
struct CommonOptions {
  RecipeSettings recipe; ///< a precision and a policy, for every tool
  std::string device = "auto", plan;
  unsigned threads = 0;
  bool onednn = false;
  std::string reproducer;
  std::vector<std::string> plugins, insertPasses;
  bool dumpPipeline = false;
  std::vector<Option> table();
  /// Returns `compile` with the user's passes. It prints each warning and each
  /// pipeline once on standard error: the batch, the remainder and the
  /// evaluation are compiled one by one, and give the same warnings.
  Compiler compiler() const;
  /// Returns the settings of tools that compare variants of a module.
  precision::Execution execution() const;
};

/// Whether an option is about the user's passes: for pipelines that are not
/// those of a step.
bool isOfPasses(const Option &option);

/// Returns options for the settings of a recipe's step, and the name of the
/// recipe.
std::vector<Option> recipeOptions(std::string &function, RecipeSettings &to);

/// Returns `--scaler` of tools that compare; static:auto, which is found during
/// training, is an error of usage.
Option scalerOption(std::string &to, std::string help);

/// Prints a line on standard error; from any thread.
void note(llvm::StringRef line);

/// Returns a function that prints each line once; from any thread.
std::function<void(llvm::StringRef)> noteOnce();

/// Returns `--precision`, which maps another name of a precision to its own:
/// "half" is "fp16".
Option precisionOption(std::string &to, std::string help);

/// Runs a tool or subcommand on one module: parses its words, then executes it.
/// `options` has a field `module`, which the one positional word becomes.
template <typename Options>
int runOnModule(llvm::ArrayRef<const char *> arguments,
                Command (*describe)(Options &),
                llvm::Error (*execute)(const Options &)) {
  Options options;
  auto others = describe(options).parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  options.module = others->value().front();
  if (llvm::Error error = execute(options))
    return report(std::move(error));
  return 0;
}

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_COMMON_H
