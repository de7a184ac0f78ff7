//===- Page.cpp - a run as one file of HTML -------------------------------===//
#include "runtime/report/Page.h"
#include "runtime/report/Sections.h"
#include "support/HtmlPage.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {

/// The name of the module, else of its file, else of the folder.
static std::string nameOf(const RunFiles &run) {
  for (const auto *object : {&run.summary, &run.plan})
    if (*object)
      if (StringRef name = textOf(**object, "module"); !name.empty())
        return name.str();
  if (run.summary)
    if (StringRef file = textOf(*run.summary, "file"); !file.empty())
      return sys::path::filename(file).str();
  return run.folder;
}

static void writeNavigation(Html &html, const RunFiles &run) {
  std::vector<std::pair<StringRef, StringRef>> links = {
      {"#steps", "loss and scale"},
      {"#gradients", "gradients"},
      {"#casts", "casts"},
      {"#memory", "memory"}};
  if (run.confusion)
    links.insert(links.begin() + 1, {"#confusion", "classes"});
  if (!run.findings.empty())
    links.insert(links.begin() + 1, {"#findings", "not finite"});
  if (run.values)
    links.push_back({"#values", "values"});
  html.open("nav", {{"aria-label", "sections"}});
  for (auto [target, text] : links)
    html.element("a", text, {{"href", target.str()}}).text(" ");
  html.close();
}

void writePage(raw_ostream &os, const RunFiles &run) {
  Html html(os);
  std::string name = nameOf(run);
  writePageHead(html, name + " - Mantissa", {kPageStyle, kReportStyle});
  html.open("body").open("header");
  html.element("h1", name).open("p", {{"class", "about"}});
  if (run.summary)
    if (StringRef file = textOf(*run.summary, "file"); !file.empty())
      html.text("trained from ").element("code", file).text(" ");
  html.text("into ").element("code", run.folder).close();
  writeNavigation(html, run);
  html.close().open("main");
  writeFacts(html, run);
  writeSteps(html, run);
  writeConfusion(html, run);
  writeFindings(html, run);
  writeGradients(html, run);
  writeCasts(html, run);
  writeMemory(html, run);
  writeValues(html, run);
  html.close();
  html.element("footer", "Made by mp-run report. The page needs no network.");
  html.close().close();
}

} // namespace mp
