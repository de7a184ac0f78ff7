//===- Findings.cpp - where numbers stopped being finite ------------------===//
#include "runtime/report/Sections.h"
#include <cmath>

using namespace llvm;

namespace mp {
namespace {

/// "3 of 640 elements not finite", or what else is known.
std::string finiteText(const json::Object &value) {
  std::string all = value.get("elements")
                        ? pluralText(countOf(value, "elements"), "element")
                        : "elements";
  std::optional<bool> isFinite = value.getBoolean("finite");
  if (uint64_t count = countOf(value, "nonfinite"))
    return countText(count) + " of " + all + " not finite";
  if (value.get("nonfinite"))
    isFinite = true;
  if (!isFinite)
    return "";
  return all + (*isFinite ? ", all finite" : ", not all finite");
}

/// The same with the range of those that are finite.
std::string valueText(const json::Object &value) {
  std::string text = finiteText(value);
  auto add = [&](const std::string &more) {
    text += (text.empty() ? "" : "; ") + more;
  };
  double least = numberOf(value, "least"), most = numberOf(value, "largest");
  if (!std::isnan(least) && !std::isnan(most))
    add("from " + shortNumber(least) + " to " + shortNumber(most));
  else if (double size = numberOf(value, "magnitude"); !std::isnan(size))
    add("at most " + shortNumber(size));
  return text;
}

void writeValues(Html &html, const json::Object &finding) {
  html.open("td");
  if (const json::Object *result = finding.getObject("result"))
    html.element("div", "result: " + valueText(*result));
  for (const json::Object *operand : objectsOf(finding, "operands")) {
    html.open("div").element("code", textOf(*operand, "name"));
    html.text(": " + valueText(*operand)).close();
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
  StringRef samples = textOf(finding, "samples");
  if (!textOf(finding, "text").contains(samples))
    html.element("small", samples);
  html.close();
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
