//===- Memory.cpp - the section on memory ---------------------------------===//
#include "runtime/report/PlanReport.h"
#include "runtime/report/Sections.h"
#include "runtime/report/Svg.h"

using namespace llvm;

namespace mp {
namespace {

constexpr size_t kMostRows = 25;

double ratio(uint64_t part, uint64_t whole) {
  return whole ? static_cast<double>(part) / whole : 0;
}

void writeKinds(Html &html, const json::Object &plan,
                const json::Object &bytes) {
  std::vector<std::pair<uint64_t, StringRef>> kinds;
  for (auto &[name, value] : bytes)
    if (uint64_t size = value.getAsUINT64().value_or(0);
        size && name != "total")
      kinds.emplace_back(size, name);
  llvm::sort(kinds, [](const auto &a, const auto &b) {
    return std::tuple(b.first, a.second) < std::tuple(a.first, b.second);
  });
  uint64_t total = countOf(bytes, "total");
  uint64_t most = kinds.empty() ? 0 : kinds.front().first;
  const json::Object *notes = plan.getObject("notes");
  openTable(html,
            {{"memory"}, {""}, {"size", true}, {"share", true}, {"what it is"}},
            amountOf(total) + " in all");
  for (auto [size, name] : kinds) {
    html.open("tr").element("th", name, {{"scope", "row"}}).open("td");
    drawBar(html, {{"memory", ratio(size, most), amountOf(size)}}, name);
    html.close().element("td", amountOf(size), {{"class", "number"}});
    html.element("td", shareText(ratio(size, total)), {{"class", "number"}});
    html.element("td", notes ? textOf(*notes, name) : "").close();
  }
  closeTable(html);
}

/// Draws when a value is alive, among the steps of its entry point.
void drawLife(Html &html, uint64_t first, uint64_t last, uint64_t steps) {
  std::string tip = "alive in steps " + countText(first + 1) + " to " +
                    countText(last + 1) + " of " + countText(steps);
  double from = ratio(first, steps), to = ratio(last + 1, steps);
  drawBar(html, {{"hole", from, tip}, {"life", to - from, tip}}, tip);
}

void writePeak(Html &html, const json::Object &peak) {
  auto values = objectsOf(peak, "values");
  if (values.empty())
    return;
  uint64_t all = countOf(peak, "bytes"), steps = countOf(peak, "steps");
  html.element("h3", "The arena at its peak");
  html.open("p").text(amountOf(all) + " are alive in step " +
                      countText(countOf(peak, "step") + 1) + " of " +
                      countText(steps) + " of ");
  html.element("code", textOf(peak, "function")).text(", which is ");
  writeKernel(html, textOf(peak, "summary"));
  if (StringRef source = textOf(peak, "source"); !source.empty())
    html.text(" (" + source + ")");
  html.text(".").close();
  size_t shown = std::min(values.size(), kMostRows);
  openTable(html, {{"value of"}, {""}, {"size", true}, {"alive in the step"}},
            shown < values.size()
                ? "The " + countText(shown) + " largest of " +
                      pluralText(values.size(), "value")
                : "All " + pluralText(values.size(), "value"));
  uint64_t most = countOf(*values.front(), "bytes");
  for (const json::Object *value : ArrayRef(values).take_front(shown)) {
    uint64_t size = countOf(*value, "bytes");
    html.open("tr").open("th", {{"scope", "row"}});
    writeKernel(html, textOf(*value, "summary"));
    writeSource(html, textOf(*value, "source"));
    html.close().open("td");
    drawBar(html, {{"memory", ratio(size, most), amountOf(size)}},
            amountOf(size));
    html.close().element("td", amountOf(size), {{"class", "number"}});
    html.open("td");
    drawLife(html, countOf(*value, "first_step"), countOf(*value, "last_step"),
             steps);
    html.close().close();
  }
  closeTable(html);
}

} // namespace

void writeMemory(Html &html, const RunFiles &run) {
  openSection(html, "memory", "Memory plan");
  const json::Object *bytes = run.plan ? run.plan->getObject("bytes") : nullptr;
  if (!bytes) {
    writeMissing(html, run, "plan.json", "the memory that is planned", "");
    html.close();
    return;
  }
  writeKinds(html, *run.plan, *bytes);
  if (const json::Object *peak = run.plan->getObject("peak"))
    writePeak(html, *peak);
  html.close();
}

} // namespace mp
