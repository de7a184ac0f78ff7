//===- ViewPage.cpp - pictures as one file of HTML ------------------------===//
#include "passes/inspect/view/ViewPage.h"
#include "support/HtmlPage.h"

using namespace mp;
using namespace mp::view;

namespace {
/// How many nodes of a picture are what.
struct Counts {
  explicit Counts(const Picture &picture) {
    for (const Node &node : picture.nodes) {
      ++changes[static_cast<unsigned>(node.change)];
      casts += node.kind == NodeKind::Cast;
      if (node.kind != NodeKind::Op && node.kind != NodeKind::Kernel &&
          node.kind != NodeKind::Cast)
        continue;
      ++ops;
      if (!node.types.empty())
        ++results[static_cast<unsigned>(node.precision)];
    }
  }
  unsigned ops = 0, casts = 0;
  unsigned results[kElementClasses] = {};
  unsigned changes[4] = {};
};
} // namespace

/// The legend of the colours, with the number of ops that have each. Reads,
/// writes and constants do not count.
static void writeCounts(Html &html, const Drawing &drawing) {
  std::vector<Counts> counts;
  for (const Picture &picture : drawing.pictures)
    counts.emplace_back(picture);
  auto writeRow = [&](llvm::StringRef name, auto number) {
    html.open("tr");
    html.element("th", name);
    for (const Counts &one : counts)
      html.element("td", countText(number(one)), {{"class", "number"}});
    html.close();
  };
  html.open("table", {{"class", "facts-table"}});
  html.element("caption",
               "Ops, and kernels, by the element type of their result");
  html.open("thead").open("tr").element("th", "");
  for (const Picture &picture : drawing.pictures)
    html.element("th", picture.clusters.front().title, {{"class", "number"}});
  html.close().close().open("tbody");
  for (unsigned i = 0; i < kElementClasses; ++i) {
    auto used = [&](const Counts &one) { return one.results[i]; };
    if (llvm::none_of(counts, used))
      continue;
    auto precision = static_cast<ElementClass>(i);
    html.open("tr").open("th");
    html.open("svg", {{"class", "swatch " + nameOf(precision).str()},
                      {"viewBox", "0 0 15 8"},
                      {"aria-hidden", "true"}});
    html.empty("rect", {{"width", "15"}, {"height", "8"}, {"rx", "2"}});
    html.close().text(describe(precision)).close();
    for (const Counts &one : counts)
      html.element("td", countText(used(one)), {{"class", "number"}});
    html.close();
  }
  writeRow("all ops", [](const Counts &one) { return one.ops; });
  writeRow("of these, casts", [](const Counts &one) { return one.casts; });
  if (drawing.pictures.size() > 1)
    for (Change change : {Change::New, Change::Changed, Change::Gone})
      writeRow((nameOf(change) + " nodes").str(), [&](const Counts &one) {
        return one.changes[static_cast<unsigned>(change)];
      });
  html.close().close();
}

/// The casts of the last picture as text.
static void writeCasts(Html &html, const Picture &picture) {
  std::vector<const Node *> casts;
  for (const Node &node : picture.nodes)
    if (node.kind == NodeKind::Cast)
      casts.push_back(&node);
  if (casts.empty())
    return;
  html.open("details").element("summary",
                               pluralText(casts.size(), "cast") + " as text");
  html.open("table").open("thead").open("tr");
  for (llvm::StringRef name : {"cast", "result", "source", "", "reason"})
    html.element("th", name);
  html.close().close().open("tbody");
  for (const Node *cast : casts) {
    html.open("tr").element("th", cast->title);
    html.element("td", llvm::join(cast->types, ", "));
    html.element("td", cast->source);
    html.element("td", nameOf(cast->change));
    html.element("td", cast->reason, {{"class", "prose"}});
    html.close();
  }
  html.close().close().close();
}

void mp::view::writePage(llvm::raw_ostream &os, const Drawing &drawing) {
  Html html(os);
  writePageHead(html, drawing.title + " - Mantissa", {kPageStyle, kViewStyle},
                kViewScript);
  html.open("body").open("header");
  html.element("h1", drawing.title);
  if (!drawing.passes.empty()) {
    html.open("p").text("before and after ");
    html.element("code", drawing.passes).close();
  }
  html.element(
      "p",
      "Colours are element types of results. A cylinder is a variable, a pill "
      "of two colours a cast, a dashed box with an arrow a value that is "
      "made elsewhere. The pointer over a node shows the op, its place in the "
      "source, and why autocast chose its types.",
      {{"class", "about"}});
  html.close().open("main").open("section");
  writeCounts(html, drawing);
  writeCasts(html, drawing.pictures.back());
  bool isPair = drawing.pictures.size() > 1;
  html.close().open("div", {{"class", isPair ? "panels pair" : "panels"}});
  for (auto [number, picture] : llvm::enumerate(drawing.pictures)) {
    html.open("section", {{"class", "panel"}, {"tabindex", "0"}});
    html.element("h2", picture.clusters.front().title);
    writeFunctions(html, picture, "p" + std::to_string(number) + "n");
    html.close();
  }
  html.close().close();
  html.element("footer", "Made by mp-view-graph. The page needs no network.");
  html.open("script").literal(kViewScript).close();
  html.close().close();
}
