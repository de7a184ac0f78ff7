//===- Report.cpp - mp-run report -----------------------------------------===//
#include "runtime/report/Page.h"
#include "support/OutputFile.h"
#include "tools/run/Commands.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp::tool {

static Error writeReport(StringRef folder, const std::string &out) {
  Expected<RunFiles> run = RunFiles::read(folder);
  if (!run)
    return run.takeError();
  std::string page;
  raw_string_ostream os(page);
  writePage(os, *run);
  if (Error error = writeAtomically(
          out, [&](OutputFile &file) { return file.write(page); }))
    return error;
  outs() << out << "\n";
  return Error::success();
}

int reportRun(ArrayRef<const char *> arguments) {
  std::string out;
  Command command{"report", "RUN [options]",
                  "Makes one page of HTML of what mp-run train wrote to the "
                  "folder RUN: loss and loss scale,\nskipped steps, gradients, "
                  "casts and memory. It needs no network. The path is "
                  "printed."};
  command.positional = 1;
  command.options = {text("out", "FILE", out,
                          "the page to write (RUN/report.html)",
                          Names::Output)};
  auto others = command.parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  const std::string &folder = others->value().front();
  if (out.empty()) {
    SmallString<256> path(folder);
    sys::path::append(path, "report.html");
    out = path.str().str();
  } else if (Error error = checkFiles({{"--out", out, Names::Output},
                                       {"RUN", folder, Names::InputRun}}))
    return report(std::move(error));
  if (Error error = writeReport(folder, out))
    return report(std::move(error));
  return 0;
}

} // namespace mp::tool
