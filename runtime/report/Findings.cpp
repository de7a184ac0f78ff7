//===- Findings.cpp - where values stopped being finite -------------------===//
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

/// The same, with the range of the finite elements.
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

void writeRanges(Html &html, const json::Object &finding) {
  html.open("td", {{"class", "prose"}});
  const json::Object *result = finding.getObject("result");
  if (result)
    html.element("div", "result: " + valueText(*result));
  else
    html.text(textOf(finding, "text"));
  for (const json::Object *operand : objectsOf(finding, "operands")) {
    html.open("div").element("code", textOf(*operand, "name"));
    html.text(": " + valueText(*operand)).close();
  }
  if (finding.get("sample"))
    html.element("div", "first in sample " +
                            std::to_string(countOf(finding, "sample")) +
                            " of the data");
  html.element("small", textOf(finding, "samples"));
  html.close();
}

/// Writes "17", or "1 to 39, 17 steps" with the values of the first.
void writeWhen(Html &html, const RunFiles::Finding &finding) {
  html.open("td", {{"class", "number"}});
  if (finding.first.get("step"))
    html.text(countText(countOf(finding.first, "step")));
  if (finding.steps > 1)
    html.text(" to " + countText(finding.last))
        .element("small", pluralText(finding.steps, "step"));
  html.close();
}

void writeOp(Html &html, const json::Object &object, StringRef name) {
  html.open("th", {{"scope", "row"}});
  html.element("code", textOf(object, name));
  writeSource(html, textOf(object, "source"));
  html.close();
}

void writeRow(Html &html, const RunFiles::Finding &finding) {
  html.open("tr");
  writeWhen(html, finding);
  html.element("td", textOf(finding.first, "where"));
  writeOp(html, finding.first, "op");
  writeRanges(html, finding.first);
  html.close();
}

/// "-3.05e+07", or nothing if no element is finite.
std::string boundText(const json::Object &value, StringRef key) {
  double bound = numberOf(value, key);
  return std::isnan(bound) ? "" : shortNumber(bound);
}

constexpr size_t kMostValues = 400;

} // namespace

void writeFindings(Html &html, const RunFiles &run) {
  if (run.findings.empty())
    return;
  openSection(html, "findings", "Where numbers stopped being finite");
  uint64_t all = run.furtherFindings;
  for (const RunFiles::Finding &finding : run.findings)
    all += finding.steps;
  openTable(html, {{"step", true}, {"where"}, {"op"}, {"values"}},
            pluralText(all, "step") + " by the op where that began, with the " +
                "values of the first of each" +
                (run.furtherFindings
                     ? "; the first " + pluralText(run.findings.size(), "op") +
                           " are shown"
                     : ""));
  for (const RunFiles::Finding &finding : run.findings)
    writeRow(html, finding);
  closeTable(html);
  html.close();
}

void writeValues(Html &html, const RunFiles &run) {
  if (!run.values)
    return;
  openSection(html, "values", "Values of a step");
  auto values = objectsOf(*run.values, "values");
  size_t shown = std::min(values.size(), kMostValues);
  html.open("details").element(
      "summary", pluralText(values.size(), "value") + " of step " +
                     countText(countOf(*run.values, "step")) +
                     ": their ranges, in the order of the step");
  openTable(html,
            {{"value of"},
             {"where"},
             {"type"},
             {"not finite", true},
             {"least", true},
             {"largest", true}},
            shown < values.size() ? "the first " + countText(shown) +
                                        " are shown; values.json has all"
                                  : "");
  for (const json::Object *value : ArrayRef(values).take_front(shown)) {
    html.open("tr");
    writeOp(html, *value, "name");
    html.element("td", textOf(*value, "where"));
    html.open("td").element("code", textOf(*value, "type")).close();
    html.element("td", countText(countOf(*value, "nonfinite")),
                 {{"class", "number"}});
    for (StringRef key : {"least", "largest"})
      html.element("td", boundText(*value, key), {{"class", "number"}});
    html.close();
  }
  closeTable(html);
  html.close().close();
}

} // namespace mp
