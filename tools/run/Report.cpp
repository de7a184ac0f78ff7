//===- Report.cpp - mp-run report -----------------------------------------===//
#include "runtime/report/Csv.h"
#include "runtime/report/Page.h"
#include "support/OutputFile.h"
#include "tools/run/Commands.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp::tool {

static Error writeText(const std::string &path, StringRef text) {
  if (Error error = writeAtomically(
          path, [&](OutputFile &file) { return file.write(text); }))
    return error;
  outs() << path << "\n";
  return Error::success();
}

static Error writeReport(StringRef folder, const std::string &out) {
  Expected<RunFiles> run = RunFiles::read(folder);
  if (!run)
    return run.takeError();
  std::string page;
  raw_string_ostream os(page);
  writePage(os, *run);
  return writeText(out, page);
}

static Error writeTable(StringRef folder, const std::string &out) {
  std::string table;
  raw_string_ostream os(table);
  if (Error error = writeCsv(os, folder))
    return error;
  return writeText(out, table);
}

int reportRun(ArrayRef<const char *> arguments) {
  std::string out, csv;
  Command command{"report", "RUN [options]",
                  "Makes one page of HTML of what mp-run train wrote to the "
                  "folder RUN: loss and loss scale,\nskipped steps, gradients, "
                  "casts and memory. It needs no network. The path is "
                  "printed."};
  command.positional = 1;
  command.options = {
      text("out", "FILE", out, "the page to write (RUN/report.html)",
           Names::Output),
      text("csv", "FILE", csv,
           "write the metrics of each step, and the evaluations, as a table "
           "instead of a page",
           Names::Output)};
  auto others = command.parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  const std::string &folder = others->value().front();
  if (!csv.empty() && !out.empty())
    return report(make_error<UsageError>("--csv writes no page: leave out "
                                         "--out, or make two reports"));
  const std::string &given = csv.empty() ? out : csv;
  if (!given.empty())
    if (Error error =
            checkFiles({{csv.empty() ? "--out" : "--csv", given, Names::Output},
                        {"RUN", folder, Names::InputRun}}))
      return report(std::move(error));
  if (given.empty()) {
    SmallString<256> path(folder);
    sys::path::append(path, "report.html");
    out = path.str().str();
  }
  if (Error error =
          csv.empty() ? writeReport(folder, out) : writeTable(folder, csv))
    return report(std::move(error));
  return 0;
}

} // namespace mp::tool
