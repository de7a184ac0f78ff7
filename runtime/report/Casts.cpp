//===- Casts.cpp - which op runs in which type, and why -------------------===//
#include "runtime/report/PlanReport.h"
#include "runtime/report/Sections.h"
#include "runtime/report/Svg.h"

using namespace llvm;

namespace mp {
namespace {

constexpr size_t kMostRows = 300;

/// How many ops of one name run in each type.
struct Tally {
  std::map<std::string, uint64_t> types;
  uint64_t ops = 0, casts = 0;
};

std::map<std::string, Tally> tallyOf(ArrayRef<const json::Object *> ops) {
  std::map<std::string, Tally> tallies;
  for (const json::Object *op : ops) {
    Tally &tally = tallies[textOf(*op, "op").str()];
    ++tally.types[textOf(*op, "runs_in").str()];
    ++tally.ops;
    tally.casts += objectsOf(*op, "casts").size();
  }
  return tallies;
}

void writeTally(Html &html, ArrayRef<const json::Object *> ops) {
  std::map<std::string, Tally> tallies = tallyOf(ops);
  uint64_t most = 1;
  for (auto &[name, tally] : tallies)
    most = std::max(most, tally.ops);
  openTable(html,
            {{"op"},
             {"how many run in which type"},
             {""},
             {"casts of operands", true}},
            "Ops by name");
  for (auto &[name, tally] : tallies) {
    html.open("tr").open("th", {{"scope", "row"}});
    html.element("code", name).close().open("td");
    std::vector<BarPart> parts;
    for (auto &[type, count] : tally.types)
      parts.push_back(
          {classOfPrecision(type), static_cast<double>(count) / most,
           countText(count) + " in " + (type.empty() ? "no float" : type)});
    drawBar(html, parts, name);
    html.close().open("td");
    for (auto &[type, count] : tally.types) {
      writePrecision(html, type);
      html.text(" " + countText(count) + " ");
    }
    html.close();
    html.element("td", tally.casts ? countText(tally.casts) : "",
                 {{"class", "number"}})
        .close();
  }
  closeTable(html);
}

void writeCast(Html &html, const json::Object &cast) {
  html.open("div").text("operand " + Twine(countOf(cast, "operand")) + " ");
  writePrecision(html, textOf(cast, "from"));
  html.text(" → ");
  writePrecision(html, textOf(cast, "to"));
  if (uint64_t bytes = countOf(cast, "bytes"))
    html.text(" " + amountOf(bytes));
  if (cast.getBoolean("shared").value_or(false))
    html.text(", cast for an earlier op");
  html.close();
}

void writeOp(Html &html, const json::Object &op) {
  html.open("tr").open("th", {{"scope", "row"}});
  html.element("code", textOf(op, "op"));
  writeSource(html, textOf(op, "source"));
  html.close().open("td");
  writePrecision(html, textOf(op, "runs_in"));
  html.close();
  html.element("td", textOf(op, "category"));
  html.element("td", textOf(op, "why"), {{"class", "prose"}}).open("td");
  for (const json::Object *cast : objectsOf(op, "casts"))
    writeCast(html, *cast);
  html.close().close();
}

void writeFunction(Html &html, const json::Object &function) {
  auto ops = objectsOf(function, "ops");
  html.open("p").text("Function ");
  html.element("code", ("@" + textOf(function, "function")).str());
  html.text(" by policy ").element("code", textOf(function, "policy"));
  html.text(": " + pluralText(ops.size(), "op") + ", " +
            pluralText(countOf(function, "casts"), "cast"));
  if (uint64_t bytes = countOf(function, "cast_bytes"))
    html.text(" that read and write " + amountOf(bytes) + " a batch");
  html.text(".").close();
  writeTally(html, ops);
  size_t shown = std::min(ops.size(), kMostRows);
  if (shown <= 40)
    html.open("details", {{"open", ""}});
  else
    html.open("details");
  html.element("summary", "Op by op, and why");
  openTable(html, {{"op"}, {"runs in"}, {"category"}, {"why"}, {"casts"}},
            shown < ops.size() ? "The first " + countText(shown) + " of " +
                                     pluralText(ops.size(), "op")
                               : "In the order of the module");
  for (const json::Object *op : ArrayRef(ops).take_front(shown))
    writeOp(html, *op);
  closeTable(html);
  html.close();
}

} // namespace

void writeCasts(Html &html, const RunFiles &run) {
  openSection(html, "casts", "Casts by op");
  if (!run.casts) {
    writeMissing(html, run, "casts.json", "which op runs in which type", "");
  } else if (run.casts->empty()) {
    html.element("p", "Autocast is off: every op computes in the types that "
                      "the module says.");
  } else {
    for (const json::Object *function : objectsOf(*run.casts))
      writeFunction(html, *function);
  }
  html.close();
}

} // namespace mp
