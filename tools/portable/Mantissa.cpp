//===- Mantissa.cpp - all tools as one program ----------------------------===//
//
// The main of the portable build. The tool is the name that the program is
// called by (mp-opt, a link to it) or the first argument (mantissa opt ...).
// The driver of test/fuzz is among them, so that the search for wrong graphs
// runs on machines that cannot build it.
//
//===----------------------------------------------------------------------===//
#include "tools/Tools.h"
#include "tools/common/Version.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <vector>

using namespace llvm;

static constexpr char kHelp[] =
    "usage: mantissa TOOL ...   or by a link's name: mp-TOOL ...\n\n"
    "  opt         runs passes over .mlir files\n"
    "  translate   modules to other forms\n"
    "  run         trains, scores and runs modules\n"
    "  diff        compares a graph under two policies, op by op\n"
    "  lsp-server  answers an editor's questions\n"
    "  zoo         prints known networks as modules\n"
    "  data        makes arrays that modules read as data\n"
    "  reduce      finds the smallest module that still shows a fault\n"
    "  fuzz-driver runs modules for test/fuzz/run.py\n\n"
    "mantissa TOOL --help says more.\n";

namespace {
struct Tool {
  StringRef name;
  int (*main)(int, char **);
};
} // namespace

static const Tool *findTool(StringRef name) {
  using namespace mp::tool;
  static const Tool tools[] = {{"opt", optMain},
                               {"translate", translateMain},
                               {"run", runMain},
                               {"diff", diffMain},
                               {"lsp-server", lspserverMain},
                               {"reduce", reduceMain},
                               {"zoo", zooMain},
                               {"data", dataMain},
                               {"fuzz-driver", fuzzdriverMain}};
  const Tool *found =
      llvm::find_if(tools, [&](const Tool &tool) { return tool.name == name; });
  return found == std::end(tools) ? nullptr : found;
}

/// Returns the option of `arguments` that would load a plugin, or nothing. A
/// plugin links the shared library of a build, which a static program does not
/// have.
static std::optional<StringRef> pluginOption(ArrayRef<char *> arguments) {
  for (StringRef word : arguments) {
    StringRef option = word.split('=').first;
    StringRef name = option.ltrim('-');
    if (name != option &&
        (name == "load-pass-plugin" || name == "load-dialect-plugin"))
      return option;
  }
  return std::nullopt;
}

static int runTool(const Tool &tool, std::vector<char *> arguments) {
  if (std::optional<StringRef> option = pluginOption(arguments)) {
    errs() << "error: " << *option
           << ": this static program takes no plugins; build from source "
              "(scripts/build.sh) to load them\n";
    return 1;
  }
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  return tool.main(count, arguments.data());
}

int main(int argc, char **argv) {
  std::vector<char *> arguments(argv, argv + argc);
  StringRef called = argc ? sys::path::filename(argv[0]) : "";
  called.consume_front("mp-");
  if (const Tool *tool = findTool(called))
    return runTool(*tool, std::move(arguments));
  StringRef word = argc > 1 ? argv[1] : "";
  if (const Tool *tool = findTool(word)) {
    arguments.erase(arguments.begin());
    return runTool(*tool, std::move(arguments));
  }
  if (word == "--help" || word == "-h" || word == "help") {
    outs() << kHelp;
    return 0;
  }
  if (word == "--version") {
    outs() << mp::tool::versionText("mantissa") << "\n";
    return 0;
  }
  if (!word.empty())
    errs() << "error: unknown tool '" << word << "'\n";
  errs() << kHelp;
  return 2;
}
