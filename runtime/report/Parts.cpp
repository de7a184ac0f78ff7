//===- Parts.cpp - parts that the sections of a page share ----------------===//
#include "runtime/report/Sections.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace mp {

void openSection(Html &html, StringLiteral id, const Twine &title) {
  html.open("section",
            {{"id", id.str()}, {"aria-labelledby", (id + "-title").str()}});
  html.element("h2", title, {{"id", (id + "-title").str()}});
}

void openTable(Html &html, ArrayRef<TableColumn> columns,
               const Twine &caption) {
  html.open("div", {{"class", "scroll"}, {"tabindex", "0"}}).open("table");
  html.element("caption", caption).open("thead").open("tr");
  for (const TableColumn &column : columns)
    html.element(
        "th", column.name,
        {{"scope", "col"}, {"class", column.isNumber ? "number" : ""}});
  html.close().close().open("tbody");
}

void closeTable(Html &html) { html.close().close().close(); }

void writeMissing(Html &html, const RunFiles &run, StringRef file,
                  StringRef what, StringRef flags) {
  StringRef module = run.summary ? textOf(*run.summary, "file") : "";
  html.open("p", {{"class", "missing"}});
  html.text("Not recorded: " + what + " (").element("code", file);
  html.text("). To get it: ");
  html.element("code", "mp-run train " + (module.empty() ? "FILE" : module) +
                           " --data DIR --out " + run.folder + flags);
  html.close();
}

void writeSource(Html &html, StringRef source) {
  // A path without a slash is shown whole.
  StringRef name = source.substr(source.rfind('/') + 1);
  if (!source.empty())
    html.element("small", name, {{"title", source.str()}});
}

/// A rank of how much an op computes per element. A plan has only names:
/// products sum over a dimension, the others do a few operations or, for an
/// exponential or a statistic, many.
static int weightOf(StringRef op) {
  for (StringRef product : {"linear", "matmul"})
    if (op.contains(product))
      return 2;
  for (StringRef many :
       {"softmax", "logsumexp", "cross_entropy", "norm", "exp", "log", "tanh",
        "sigmoid", "gelu", "silu", "softplus", "erf", "sin", "cos", "pow"})
    if (op.contains(many))
      return 1;
  return 0;
}

void writeKernel(Html &html, StringRef ops) {
  StringRef name = ops;
  bool isTemporary = name.consume_front("temporary of ");
  SmallVector<StringRef> names;
  name.split(names, ' ');
  auto isLighter = [](StringRef a, StringRef b) {
    return weightOf(a) < weightOf(b);
  };
  StringRef heaviest = *llvm::max_element(names, isLighter);
  html.element("code", (isTemporary ? "temporary of " : "") + names.front(),
               {{"title", ops.str()}});
  size_t shown = 1;
  if (weightOf(heaviest) > weightOf(names.front())) {
    html.text(" ... ").element("code", heaviest, {{"title", ops.str()}});
    shown = 2;
  }
  if (names.size() > shown)
    html.text(" + " + pluralText(names.size() - shown, "op"));
}

StringLiteral classOfPrecision(StringRef type) {
  if (type.starts_with("f8"))
    return "f8";
  return StringSwitch<StringLiteral>(type)
      .Case("f16", "f16")
      .Case("bf16", "bf16")
      .Case("tf32", "tf32")
      .Case("f32", "f32")
      .Case("f64", "f64")
      .Default("none");
}

void writePrecision(Html &html, StringRef type) {
  html.element("span", type.empty() ? "no float" : type,
               {{"class", ("chip " + classOfPrecision(type)).str()}});
}

void writeLegend(Html &html, ArrayRef<LegendEntry> entries) {
  html.open("ul", {{"class", "legend"}});
  for (const LegendEntry &entry : entries) {
    html.open("li");
    html.open("svg", {{"viewBox", "0 0 12 12"}, {"aria-hidden", "true"}});
    html.empty(
        "rect",
        {{"class", entry.kind.str()}, {"width", "12"}, {"height", "12"}});
    html.close().text(entry.text).close();
  }
  html.close();
}

} // namespace mp
