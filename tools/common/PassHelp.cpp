//===- PassHelp.cpp - help that begins with passes ------------------------===//
#include "tools/common/PassHelp.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static bool asksForHelp(StringRef word) {
  return word == "-h" || word == "-help" || word == "--help";
}

/// Hides the options of LLVM's libraries, which are registered by now, but not
/// --help and its like.
static void hideRegistered() {
  for (auto [name, option] : cl::getRegisteredOptions())
    if (none_of(option->Categories, [](const cl::OptionCategory *category) {
          return category->getName() == "Generic Options";
        }))
      option->setHiddenFlag(cl::Hidden);
}

using Entries = std::vector<const mlir::PassRegistryEntry *>;

static void printEntries(StringRef heading, Entries entries, size_t width) {
  if (entries.empty())
    return;
  llvm::sort(entries, [](const auto *a, const auto *b) {
    return a->getPassArgument() < b->getPassArgument();
  });
  outs() << heading << ":\n\n";
  for (const auto *entry : entries)
    entry->printHelpStr(/*indent=*/2, width);
  outs() << "\n";
}

/// Prints the passes and pipelines, which are values of one option without a
/// name, and hides this option.
static void printPasses() {
  Entries ownPasses, ownPipelines, others;
  size_t width = 0;
  for (auto [name, option] : cl::getRegisteredOptions()) {
    const mlir::PassRegistryEntry *pass = mlir::PassInfo::lookup(name);
    const auto *pipeline = mlir::PassPipelineInfo::lookup(name);
    const auto *entry = pass ? pass : pipeline;
    if (!entry || option->hasArgStr())
      continue;
    option->setHiddenFlag(cl::Hidden);
    width = std::max(width, entry->getOptionWidth() + 4);
    Entries &entries = !name.starts_with("mp-") ? others
                       : pass                   ? ownPasses
                                                : ownPipelines;
    entries.push_back(entry);
  }
  outs() << "USAGE: mp-opt FILE --PASS --PASS='OPTION=VALUE ...'\n\n";
  printEntries("MANTISSA'S PASSES", ownPasses, width);
  printEntries("MANTISSA'S PIPELINES", ownPipelines, width);
  printEntries("PASSES OF MLIR AND OF PLUGINS", others, width);
}

void mp::tool::helpWithPasses(ArrayRef<char *> words,
                              mlir::DialectRegistry &registry) {
  if (none_of(words, asksForHelp))
    return;
  hideRegistered();
  mlir::MlirOptMainConfig::registerCLOptions(registry);
  printPasses();
}
