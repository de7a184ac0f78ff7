//===- Gradients.cpp - the ledger of gradient underflow -------------------===//
#include "runtime/report/Histogram.h"
#include "runtime/report/Sections.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace mp {
namespace {

constexpr size_t kMostRows = 150;

/// A fate of elements, in the order of size.
struct Part {
  StringLiteral key, kind, text;
};
constexpr Part kParts[] = {
    {"zero", "zero", "zero"},
    {"flushed", "flushed", "becomes zero"},
    {"subnormal", "subnormal", "subnormal"},
    {"normal", "normal", "normal"},
    {"near_overflow", "near-overflow", "near overflow"},
    {"overflow", "overflow", "overflows"},
    {"nonfinite", "nonfinite", "not finite"},
};

double elementsOf(const json::Object &counts) {
  double elements = 0;
  for (const Part &part : kParts)
    elements += countOf(counts, part.key);
  return elements;
}

double shareOf(const json::Object &counts, StringRef key) {
  double elements = elementsOf(counts);
  return elements > 0 ? countOf(counts, key) / elements : 0;
}

double lost(const json::Object &counts) {
  return shareOf(counts, "flushed") + shareOf(counts, "overflow") +
         shareOf(counts, "nonfinite");
}

/// Counts of elements by exponent, from keys like "2^-24". Keys that are not
/// exponents of a double are ignored.
std::map<int, uint64_t> exponentsOf(const json::Object &counts) {
  std::map<int, uint64_t> exponents;
  const json::Object *listed = counts.getObject("exponents");
  if (!listed)
    return exponents;
  for (auto &[key, value] : *listed) {
    int exponent = 0;
    if (!StringRef(key).getAsInteger(10, exponent) && exponent >= -1100 &&
        exponent <= 1100)
      exponents[exponent] = value.getAsUINT64().value_or(0);
  }
  return exponents;
}

/// The advice for all gradients; empty if the run has none.
struct WrittenAdvice {
  explicit WrittenAdvice(const json::Object &object) {
    if (const json::Object *advice = object.getObject("advice")) {
      scale = numberOf(*advice, "scale");
      text = withPowers(textOf(*advice, "text"));
      flushed = countOf(*advice, "flushed");
    }
  }
  bool hasScale() const { return scale > 0 && std::isfinite(scale); }

  double scale = NAN;
  std::string text;
  uint64_t flushed = 0; ///< elements, at the scale
};

/// How many elements become zero in f16 at a scale.
uint64_t flushedAt(double scale, const json::Object &gradient) {
  uint64_t flushed = 0;
  for (auto [exponent, count] : exponentsOf(gradient))
    if (fateInHalf(std::ldexp(1.5 * scale, exponent), 0) == Fate::Flushed)
      flushed += count;
  return flushed;
}

/// If another scale would keep more than one percent of this gradient's
/// elements: that scale, and what it would keep. If no scale helps, why.
std::string ownAdvice(const json::Object &gradient, const WrittenAdvice &all) {
  WrittenAdvice own(gradient);
  if (!own.hasScale() || !all.hasScale())
    return own.text;
  uint64_t lost = flushedAt(all.scale, gradient);
  double few = 0.01 * elementsOf(gradient);
  if (lost <= own.flushed || lost - own.flushed <= few)
    return "";
  return scalePower(own.scale) + " would keep " +
         pluralText(lost - own.flushed, "element") + " that become" +
         (lost - own.flushed == 1 ? "s" : "") + " zero at " +
         scalePower(all.scale);
}

void writeShares(Html &html, const json::Object &counts) {
  std::vector<BarPart> parts;
  std::string text;
  for (const Part &part : kParts) {
    double share = shareOf(counts, part.key);
    if (!(share > 0))
      continue;
    std::string tip = (part.text + ": " + shareText(share) + ", " +
                       pluralText(countOf(counts, part.key), "element"))
                          .str();
    text += (text.empty() ? "" : "; ") + tip;
    parts.push_back({part.kind, share, std::move(tip)});
  }
  drawBar(html, parts, text.empty() ? "no elements" : text);
}

void writeRow(Html &html, const json::Object &gradient,
              const WrittenAdvice &all) {
  html.open("tr");
  html.open("th", {{"scope", "row"}});
  html.element("code", textOf(gradient, "of"));
  writeSource(html, textOf(gradient, "source"));
  html.close();
  html.open("td");
  writeShares(html, gradient);
  html.close();
  for (StringRef key : {"zero", "flushed", "subnormal", "overflow"})
    html.element("td", shareText(shareOf(gradient, key)),
                 {{"class", "number"}});
  double largest = numberOf(gradient, "largest");
  html.element("td", std::isnan(largest) ? "" : shortNumber(largest),
               {{"class", "number"}});
  html.element("td", ownAdvice(gradient, all), {{"class", "prose"}}).close();
}

void writeTable(Html &html, const json::Object &ledger,
                const WrittenAdvice &all) {
  auto gradients = objectsOf(ledger, "gradients");
  std::vector<std::pair<double, size_t>> order;
  for (auto [index, gradient] : llvm::enumerate(gradients))
    order.emplace_back(-lost(*gradient), index);
  llvm::sort(order);
  size_t shown = std::min(gradients.size(), kMostRows);
  openTable(html,
            {{"gradient of"},

             {"elements"},
             {"zero", true},
             {"becomes zero", true},
             {"subnormal", true},
             {"overflows", true},
             {"largest", true},
             {"another scale"}},
            pluralText(gradients.size(), "gradient") +
                ", those that lose most first" +
                (shown < gradients.size()
                     ? "; the first " + countText(shown) + " are shown"
                     : ""));
  for (auto [share, index] : ArrayRef(order).take_front(shown))
    writeRow(html, *gradients[index], all);
  closeTable(html);
}

/// Draws the losses of gradients over the steps if there are several records.
void writeLosses(Html &html, const Timeline &losses) {
  if (losses.total().steps < 2)
    return;
  html.element("h3", "What f16 loses, over the steps");
  html.open("div", {{"class", "multiples"}});
  for (StringRef name : losses.names())
    if (losses.spread(losses.total(), name).most > 0)
      drawSeries(html, losses, name);
  html.close();
}

} // namespace

void writeGradients(Html &html, const RunFiles &run) {
  openSection(html, "gradients", "Gradients in f16");
  if (!run.ledger) {
    writeMissing(html, run, "ledger.jsonl",
                 "how large gradients are and what f16 makes of them",
                 " --ledger 100");
    html.close();
    return;
  }
  const json::Object &ledger = *run.ledger;
  const json::Object &all = *ledger.getObject("all");
  double scale = numberOf(ledger, "scale");
  bool isScale = scale > 0 && std::isfinite(scale);
  html.element("p", "At step " + countText(countOf(ledger, "step")) +
                        ", with a loss scale of " +
                        scalePower(isScale ? scale : 1) +
                        ": the sizes of all elements of gradients in f16. What "
                        "is shaded f16 holds, once it is scaled: its normal "
                        "numbers, and fainter its subnormal ones.");
  WrittenAdvice advice(ledger);
  if (advice.hasScale())
    html.open("p", {{"class", "advice"}})
        .element("strong",
                 "Recommended loss scale: " + scalePower(advice.scale) + ".")
        .text(" " + advice.text)
        .close();
  else if (!advice.text.empty())
    html.element("p", advice.text, {{"class", "advice"}});
  drawHistogram(html, {exponentsOf(all), countOf(all, "zero")},
                isScale ? scale : 1);
  std::vector<LegendEntry> legend;
  for (const Part &part : kParts)
    legend.push_back({part.kind, part.text});
  writeLegend(html, legend);
  writeTable(html, ledger, advice);
  writeLosses(html, run.losses);
  html.close();
}

} // namespace mp
