//===- Facts.cpp - which run it was and how it ended ----------------------===//
#include "runtime/report/PlanReport.h"
#include "runtime/report/Sections.h"
#include "runtime/report/Svg.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace mp {
namespace {

/// Cards, each with a name, a value and a remark.
class Cards {
public:
  explicit Cards(Html &html) : html(html) {
    html.open("dl", {{"class", "facts"}});
  }
  ~Cards() { html.close(); }

  void add(StringRef name, const Twine &value, const Twine &more = "") {
    std::string text = value.str(), rest = more.str();
    if (text.empty())
      return;
    html.open("div").element("dt", name);
    html.open("dd").text(text);
    if (!rest.empty())
      html.element("small", rest);
    html.close().close();
  }
  void addNumber(StringRef name, double value, StringRef more = "") {
    if (!std::isnan(value))
      add(name, shortNumber(value), more);
  }
  void addBytes(StringRef name, uint64_t bytes) {
    if (bytes)
      add(name, amountOf(bytes));
  }

private:
  Html &html;
};

std::string secondsText(double seconds) {
  if (std::isnan(seconds))
    return "";
  std::string text;
  raw_string_ostream(text) << format(seconds < 100 ? "%.1f s" : "%.0f s",
                                     seconds);
  return text;
}

void addMeasured(Cards &cards, const RunFiles &run) {
  const Timeline::Stretch &total = run.steps.total();
  if (!total.steps)
    return;
  cards.add("steps", countText(total.last),
            total.first > 1 ? "from step " + countText(total.first) : "");
  cards.add("skipped", countText(total.skipped),
            total.skipped ? shareText(double(total.skipped) / total.steps) +
                                " of the steps"
                          : "");
  Spread loss = run.steps.spread(total, "loss");
  if (loss.finite)
    cards.add("last loss", shortNumber(loss.last),
              "least " + shortNumber(loss.least));
  Spread scale = run.steps.spread(total, "scale");
  if (scale.finite)
    cards.add("loss scale", scalePower(scale.last));
}

/// summary.json lists them under the names of the module's results.
void addTests(Cards &cards, const json::Object &summary) {
  std::vector<StringRef> names;
  for (auto &[key, value] : summary)
    if (StringRef(key).starts_with("test_") && value.getAsNumber())
      names.push_back(key);
  llvm::sort(names);
  for (StringRef key : names)
    cards.add(("test " + key.substr(5)).str(),
              shortNumber(numberOf(summary, key)));
}

void addBest(Cards &cards, const json::Object &summary) {
  StringRef monitor = textOf(summary, "monitor");
  if (monitor.empty())
    return;
  cards.add(("best " + monitor.split(':').second).str(),
            shortNumber(numberOf(summary, "best_score")),
            "after step " + countText(countOf(summary, "best_step")));
}

/// Only data that is slower than the step is worth a card.
void addDataWait(Cards &cards, const json::Object &summary) {
  double wait = numberOf(summary, "data_wait_seconds");
  double share = wait / numberOf(summary, "train_seconds");
  if (share > 0.05)
    cards.add("waiting for data", secondsText(wait),
              shareText(share) + " of training: the data is slower than the "
                                 "step");
}

void addBuckets(Cards &cards, const json::Object &summary) {
  const json::Array *buckets = summary.getArray("buckets");
  if (!buckets)
    return;
  std::string lengths;
  uint64_t padding = 0, places = 0;
  for (const json::Object *bucket : objectsOf(*buckets)) {
    lengths += lengths.empty() ? "" : ", ";
    lengths += countText(countOf(*bucket, "tokens"));
    padding += countOf(*bucket, "padding_tokens");
    places += countOf(*bucket, "tokens") * countOf(*bucket, "samples");
  }
  cards.add("buckets", lengths + " tokens",
            places ? shareText(double(padding) / places) + " padding" : "");
}

void addSettings(Cards &cards, const RunFiles &run) {
  const json::Object none;
  const json::Object &summary = run.summary ? *run.summary : none;
  const json::Object &plan = run.plan ? *run.plan : none;
  auto either = [&](StringRef key) {
    StringRef text = textOf(summary, key);
    return text.empty() ? textOf(plan, key) : text;
  };
  cards.add("recipe", textOf(summary, "recipe"));
  cards.add("precision", either("precision"));
  StringRef policy = either("policy");
  // An unnamed policy is that of the precision or of the recipe.
  if (policy.empty() && run.casts)
    for (const json::Object *function : objectsOf(*run.casts))
      policy = textOf(*function, "policy");
  cards.add("policy", policy);
  cards.add("scaler", textOf(summary, "scaler"));
  StringRef device = textOf(summary, "device");
  cards.add("device", device.empty() ? textOf(plan, "target") : device,
            textOf(plan, "arch"));
  if (uint64_t batch = countOf(summary, "batch")) {
    uint64_t micro = countOf(summary, "accumulate");
    cards.add("batch", countText(batch),
              micro > 1 ? "times " + countText(micro) + " a step" : "");
  }
  addBuckets(cards, summary);
  if (summary.get("seed"))
    cards.add("seed", std::to_string(countOf(summary, "seed")));
  cards.add("training", secondsText(numberOf(summary, "train_seconds")),
            "compiled in " + secondsText(numberOf(summary, "compile_seconds")));
  addDataWait(cards, summary);
  // This total, like the plan's table, includes constants and staging.
  const json::Object *bytes = plan.getObject("bytes");
  cards.addBytes("planned memory", bytes ? countOf(*bytes, "total")
                                         : countOf(summary, "planned_bytes"));
  cards.addBytes("resident at most", countOf(summary, "peak_rss_bytes"));
}

} // namespace

void writeFacts(Html &html, const RunFiles &run) {
  if (!run.summary)
    html.element(
        "p", "There is no summary.json yet: the run goes on, or was killed.",
        {{"class", "note"}});
  for (const std::string &note : run.notes)
    html.element("p", note, {{"class", "note"}});
  Cards cards(html);
  addMeasured(cards, run);
  if (run.summary) {
    cards.addNumber("train loss", numberOf(*run.summary, "train_loss"),
                    "mean of the last epoch");
    addTests(cards, *run.summary);
    addBest(cards, *run.summary);
    cards.add("ended early", textOf(*run.summary, "stopped"));
  }
  addSettings(cards, run);
}

} // namespace mp
