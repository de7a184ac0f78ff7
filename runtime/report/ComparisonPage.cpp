//===- ComparisonPage.cpp - several runs as one file of HTML --------------===//
#include "runtime/report/Comparison.h"
#include "runtime/report/Page.h"
#include "runtime/report/Sections.h"
#include "runtime/report/Svg.h"
#include "support/HtmlPage.h"

using namespace llvm;

namespace mp {
namespace {

constexpr StringLiteral kStyle = R"(
.run0 { stroke: #2f6fde; fill: #2f6fde; } .run1 { stroke: #d9480f; fill: #d9480f; }
.run2 { stroke: #2b8a3e; fill: #2b8a3e; } .run3 { stroke: #9c36b5; fill: #9c36b5; }
.run4 { stroke: #b08900; fill: #b08900; } .run5 { stroke: #0b8599; fill: #0b8599; }
path.run0, path.run1, path.run2, path.run3, path.run4, path.run5 { fill: none; }
)";

/// The chart has as many lines as it has colours; the table has all runs.
constexpr StringLiteral kColours[] = {"run0", "run1", "run2",
                                      "run3", "run4", "run5"};

Spread lossOf(const RunFiles &run, const Timeline::Stretch &stretch) {
  return run.steps.spread(stretch, "loss");
}

void drawLoss(Chart &chart, const RunFiles &run, StringLiteral colour,
              const Axis &xAxis, const Axis &yAxis) {
  PathData line;
  for (const Timeline::Stretch *stretch : run.steps.stretches()) {
    Spread loss = lossOf(run, *stretch);
    if (!loss.finite) {
      line.lift();
      continue;
    }
    double middle = stretch->first / 2.0 + stretch->last / 2.0;
    line.to(chart.x(xAxis(middle)), chart.y(yAxis(loss.mean())));
  }
  chart.path(colour, line);
}

void writeLosses(Html &html, ArrayRef<RunFiles> runs) {
  Spread loss;
  int64_t last = 1;
  for (const RunFiles &run : runs) {
    loss.add(lossOf(run, run.steps.total()));
    last = std::max(last, run.steps.total().last);
  }
  if (!loss.finite)
    return;
  openSection(html, "loss", "Loss");
  std::vector<LegendEntry> legend;
  for (auto [run, colour] : zip(runs, kColours))
    legend.push_back({colour, run.folder});
  writeLegend(html, legend);
  {
    Axis xAxis(Axis::Kind::Linear, 1, last);
    Axis yAxis = Axis::fitting(loss.least, loss.most);
    Chart chart(html, {}, "loss over the steps",
                "Losses of " + pluralText(legend.size(), "run"));
    chart.drawAxes(xAxis, "step", yAxis,
                   yAxis.isLinear() ? "loss" : "loss (log axis)");
    for (auto [run, colour] : zip(runs, kColours))
      drawLoss(chart, run, colour, xAxis, yAxis);
  }
  html.close();
}

void writeTable(Html &html, ArrayRef<RunFiles> runs) {
  std::vector<TableColumn> columns = {{""}};
  for (const RunFiles &run : runs)
    columns.push_back({run.folder});
  openTable(html, columns, "Settings, results and costs");
  for (const ComparedRow &row : compareRuns(runs)) {
    html.open("tr").element("th", row.name, {{"scope", "row"}});
    for (const std::string &cell : row.cells)
      html.element("td", cell);
    html.close();
  }
  closeTable(html);
}

} // namespace

void writeComparisonPage(raw_ostream &os, ArrayRef<RunFiles> runs) {
  Html html(os);
  std::string name = pluralText(runs.size(), "run") + " side by side";
  writePageHead(html, name + " - Mantissa", {kPageStyle, kReportStyle, kStyle});
  html.open("body").open("header").element("h1", name).close().open("main");
  for (const RunFiles &run : runs)
    for (const std::string &note : run.notes)
      html.element("p", run.folder + ": " + note, {{"class", "note"}});
  writeTable(html, runs);
  writeLosses(html, runs);
  html.close();
  html.element("footer", "Made by mp-run compare. The page needs no network.");
  html.close().close();
}

} // namespace mp
