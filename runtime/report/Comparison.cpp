//===- Comparison.cpp - several runs side by side -------------------------===//
#include "runtime/report/Comparison.h"
#include "program/RecipeSettings.h"
#include "runtime/report/PlanReport.h"
#include "runtime/report/Svg.h"
#include "support/Error.h"
#include "support/Html.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Unicode.h"
#include <cmath>
#include <set>

using namespace llvm;

namespace mp {
namespace {

const json::Object &summaryOf(const RunFiles &run) {
  static const json::Object none;
  return run.summary ? *run.summary : none;
}

std::string numberCell(double value) {
  return std::isnan(value) ? "" : shortNumber(value);
}

std::string secondsCell(double seconds) {
  std::string text;
  if (!std::isnan(seconds))
    raw_string_ostream(text) << format("%.1f s", seconds);
  return text;
}

std::string bytesCell(uint64_t bytes) { return bytes ? amountOf(bytes) : ""; }

Spread spreadOf(const RunFiles &run, StringRef series) {
  return run.steps.spread(run.steps.total(), series);
}

/// A scale that changed shows where it ended and how far it went.
std::string scaleCell(const RunFiles &run) {
  Spread scale = spreadOf(run, "scale");
  if (!scale.finite)
    return "";
  std::string text = scalePower(scale.last);
  if (scale.least != scale.most)
    text +=
        " (" + scalePower(scale.least) + " to " + scalePower(scale.most) + ")";
  return text;
}

/// The memory plan has parameters in three lines: as they are, masters, copies.
std::string weightsCell(const RunFiles &run) {
  const json::Object *bytes = run.plan ? run.plan->getObject("bytes") : nullptr;
  if (!bytes)
    return "";
  return bytesCell(countOf(*bytes, "weights") + countOf(*bytes, "masters") +
                   countOf(*bytes, "derived"));
}

/// An unnamed policy is that of the precision or of the recipe.
std::string policyCell(const RunFiles &run) {
  StringRef policy = textOf(summaryOf(run), "policy");
  if (policy.empty() && run.casts)
    for (const json::Object *function : objectsOf(*run.casts))
      policy = textOf(*function, "policy");
  return policy.str();
}

/// Makes a row if any run has a value for it.
class Rows {
public:
  explicit Rows(ArrayRef<RunFiles> runs) : runs(runs) {}

  void add(const Twine &name,
           function_ref<std::string(const RunFiles &)> cellOf) {
    ComparedRow row{name.str(), {}};
    for (const RunFiles &run : runs)
      row.cells.push_back(cellOf(run));
    if (any_of(row.cells, [](StringRef cell) { return !cell.empty(); }))
      rows.push_back(std::move(row));
  }
  void addText(StringRef name) {
    add(name, [&](const RunFiles &run) {
      return textOf(summaryOf(run), name).str();
    });
  }
  void addCount(StringRef name) {
    add(name, [&](const RunFiles &run) {
      bool isSaid = summaryOf(run).get(name);
      return isSaid ? countText(countOf(summaryOf(run), name)) : "";
    });
  }
  void addLast(const Twine &name, StringRef series) {
    add(name, [&](const RunFiles &run) {
      Spread spread = spreadOf(run, series);
      return spread.finite ? shortNumber(spread.last) : "";
    });
  }

  std::vector<ComparedRow> rows;

private:
  ArrayRef<RunFiles> runs;
};

void addSettings(Rows &rows) {
  for (StringRef name : {"module", "file", "recipe", "precision"})
    rows.addText(name);
  rows.add("policy", policyCell);
  for (StringRef name : {"scaler", "device"})
    rows.addText(name);
  for (StringRef name : {"batch", "seed"})
    rows.addCount(name);
  forEachSetting([&](const SettingInfo &setting, auto) {
    rows.add(setting.name, [&](const RunFiles &run) {
      const json::Object *settings = summaryOf(run).getObject("settings");
      return settings ? textOf(*settings, setting.name).str() : "";
    });
  });
}

/// The metrics of the training batches have the names of the module's results,
/// such as "accuracy" or "accuracy.head".
void addAccuracies(Rows &rows, ArrayRef<RunFiles> runs) {
  std::set<std::string> names;
  for (const RunFiles &run : runs)
    for (StringRef name : run.steps.names())
      if (name.starts_with("accuracy"))
        names.insert(name.str());
  for (const std::string &name : names) {
    rows.addLast("last batch's " + name, name);
    rows.add("best batch's " + name, [&](const RunFiles &run) {
      Spread spread = spreadOf(run, name);
      return spread.finite ? shortNumber(spread.most) : "";
    });
  }
}

void addTests(Rows &rows, ArrayRef<RunFiles> runs) {
  std::set<std::string> keys;
  for (const RunFiles &run : runs)
    for (auto &[key, value] : summaryOf(run))
      if (StringRef(key).starts_with("test_"))
        keys.insert(key.str());
  for (const std::string &key : keys)
    rows.add("test " + StringRef(key).substr(5), [&](const RunFiles &run) {
      return numberCell(numberOf(summaryOf(run), key));
    });
}

/// "0.91 (accuracy, step 1,876)"
std::string bestCell(const RunFiles &run) {
  StringRef score = textOf(summaryOf(run), "monitor").split(':').second;
  if (score.empty())
    return "";
  return numberCell(numberOf(summaryOf(run), "best_score")) + " (" +
         score.str() + ", step " +
         countText(countOf(summaryOf(run), "best_step")) + ")";
}

void addResults(Rows &rows, ArrayRef<RunFiles> runs) {
  rows.add("steps", [](const RunFiles &run) {
    const Timeline::Stretch &total = run.steps.total();
    return total.steps ? countText(total.last) : "";
  });
  rows.add("skipped steps", [](const RunFiles &run) {
    const Timeline::Stretch &total = run.steps.total();
    return total.steps ? countText(total.skipped) : "";
  });
  rows.add("loss scale", scaleCell);
  rows.addLast("last loss", "loss");
  rows.add("least loss", [](const RunFiles &run) {
    Spread loss = spreadOf(run, "loss");
    return loss.finite ? shortNumber(loss.least) : "";
  });
  rows.add("train loss", [](const RunFiles &run) {
    return numberCell(numberOf(summaryOf(run), "train_loss"));
  });
  addAccuracies(rows, runs);
  addTests(rows, runs);
  rows.add("best test", bestCell);
}

void addCosts(Rows &rows) {
  rows.add("training", [](const RunFiles &run) {
    return secondsCell(numberOf(summaryOf(run), "train_seconds"));
  });
  rows.add("waiting for data", [](const RunFiles &run) {
    return secondsCell(numberOf(summaryOf(run), "data_wait_seconds"));
  });
  rows.add("compiling", [](const RunFiles &run) {
    return secondsCell(numberOf(summaryOf(run), "compile_seconds"));
  });
  rows.add("planned memory", [](const RunFiles &run) {
    const json::Object *bytes =
        run.plan ? run.plan->getObject("bytes") : nullptr;
    return bytesCell(bytes ? countOf(*bytes, "total")
                           : countOf(summaryOf(run), "planned_bytes"));
  });
  rows.add("resident at most", [](const RunFiles &run) {
    return bytesCell(countOf(summaryOf(run), "peak_rss_bytes"));
  });
  rows.add("weights", weightsCell);
}

/// Left to right, padded to the column's width on the screen.
std::string padded(StringRef text, int width) {
  int own = sys::unicode::columnWidthUTF8(text);
  return text.str() + std::string(std::max(width - std::max(own, 0), 0), ' ');
}

} // namespace

std::vector<ComparedRow> compareRuns(ArrayRef<RunFiles> runs) {
  Rows rows(runs);
  addSettings(rows);
  addResults(rows, runs);
  addCosts(rows);
  return std::move(rows.rows);
}

void writeComparisonText(raw_ostream &os, ArrayRef<RunFiles> runs) {
  std::vector<std::vector<std::string>> lines(1, {""});
  for (const RunFiles &run : runs)
    lines[0].push_back(withoutControls(run.folder));
  for (const ComparedRow &row : compareRuns(runs)) {
    lines.push_back({withoutControls(row.name)});
    for (StringRef cell : row.cells)
      lines.back().push_back(cell.empty() ? "-" : withoutControls(cell));
  }
  std::vector<int> widths(runs.size() + 1);
  for (const auto &line : lines)
    for (auto [width, cell] : zip(widths, line))
      width = std::max(width, sys::unicode::columnWidthUTF8(cell));
  for (const auto &line : lines) {
    std::string text;
    for (auto [width, cell] : zip(widths, line))
      text += padded(cell, width + 2);
    os << StringRef(text).rtrim(' ') << "\n";
  }
  for (const RunFiles &run : runs)
    for (const std::string &note : run.notes)
      os << withoutControls(run.folder) << ": " << withoutControls(note)
         << "\n";
}

} // namespace mp
