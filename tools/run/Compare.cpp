//===- Compare.cpp - mp-run compare ---------------------------------------===//
#include "runtime/report/Comparison.h"
#include "support/OutputFile.h"
#include "tools/run/Commands.h"

using namespace llvm;

namespace mp::tool {

/// More columns than this fit neither a screen nor a page.
static constexpr size_t kMostRuns = 64;

static Error compareFolders(ArrayRef<std::string> folders, StringRef page) {
  std::vector<RunFiles> runs;
  for (const std::string &folder : folders) {
    Expected<RunFiles> run = RunFiles::read(folder);
    if (!run)
      return run.takeError();
    runs.push_back(std::move(*run));
  }
  if (!page.empty()) {
    std::string html;
    raw_string_ostream os(html);
    writeComparisonPage(os, runs);
    if (Error error = writeAtomically(
            page.str(), [&](OutputFile &file) { return file.write(html); }))
      return error;
  }
  writeComparisonText(outs(), runs);
  return Error::success();
}

int compare(ArrayRef<const char *> arguments) {
  std::string page;
  Command command{"compare", "RUN RUN... [options]",
                  "Prints what mp-run train wrote to several folders side by "
                  "side: settings, steps, loss,\naccuracy, loss scale, skipped "
                  "steps, time, memory and the bytes of the weights."};
  command.positional = 2;
  command.optional = kMostRuns - command.positional;
  command.options = {text("html", "FILE", page,
                          "also a page of HTML, with the losses in one chart",
                          Names::Output)};
  auto folders = command.parse(arguments);
  if (!folders)
    return report(folders.takeError());
  if (!*folders)
    return 0;
  std::vector<NamedFile> files;
  for (const std::string &folder : **folders)
    files.push_back({"RUN", folder, Names::InputRun});
  if (!page.empty())
    files.push_back({"--html", page, Names::Output});
  if (Error error = checkFiles(files))
    return report(std::move(error));
  if (Error error = compareFolders(**folders, page))
    return report(std::move(error));
  return 0;
}

} // namespace mp::tool
