//===- Findings.cpp - where numbers stopped being finite ------------------===//
#include "runtime/report/Sections.h"
#include <cmath>

using namespace llvm;

namespace mp {
namespace {

/// "3 of 640 elements not finite, from -1 to 2"
std::string spreadText(const json::Object &value) {
  std::string text;
  if (value.get("elements"))
    text = countText(countOf(value, "nonfinite")) + " of " +
           pluralText(countOf(value, "elements"), "element") + " not finite";
  double least = numberOf(value, "least"), most = numberOf(value, "largest");
  if (!std::isnan(least) && !std::isnan(most))
    text += (text.empty() ? "" : ", ") + ("from " + shortNumber(least)) +
            " to " + shortNumber(most);
  return text;
}

void writeValues(Html &html, const json::Object &finding) {
  html.open("td");
  if (const json::Object *result = finding.getObject("result"))
    html.element("div", "result: " + spreadText(*result));
  for (const json::Object *operand : objectsOf(finding, "operands")) {
    html.open("div").element("code", textOf(*operand, "name"));
    html.text(": " + spreadText(*operand)).close();
  }
  html.close();
}

void writeRow(Html &html, const json::Object &finding) {
  html.open("tr");
  html.element("td",
               finding.get("step") ? countText(countOf(finding, "step")) : "",
               {{"class", "number"}});
  html.element("td", textOf(finding, "where"));
  html.open("th", {{"scope", "row"}});
  html.element("code", textOf(finding, "op"));
  writeSource(html, textOf(finding, "source"));
  html.close();
  html.open("td", {{"class", "prose"}}).text(textOf(finding, "text"));
  html.element("small", textOf(finding, "samples")).close();
  writeValues(html, finding);
  html.close();
}

} // namespace

void writeFindings(Html &html, const RunFiles &run) {
  if (run.findings.empty())
    return;
  openSection(html, "findings", "Where numbers stopped being finite");
  uint64_t all = run.findings.size() + run.furtherFindings;
  openTable(
      html, {{"step", true}, {"where"}, {"op"}, {"what happened"}, {"values"}},
      pluralText(all, "finding") +
          (run.furtherFindings
               ? "; the first " + countText(run.findings.size()) + " are shown"
               : ""));
  for (const json::Object &finding : run.findings)
    writeRow(html, finding);
  closeTable(html);
  html.close();
}

} // namespace mp
