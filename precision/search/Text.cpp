//===- Text.cpp - results of a search as text -----------------------------===//
#include "precision/search/Precision.h"
#include "runtime/Profile.h"
#include "runtime/train/Progress.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace mp::precision {
namespace {

/// Trials that are printed without --all.
constexpr size_t kTrials = 24;

std::string scientific(double value) {
  if (value == 0)
    return "0";
  return std::isfinite(value) ? formatv("{0:e1}", value).str() : "non-fin";
}

std::string lineOf(const Location &source) {
  return source.line ? formatv("{0}:{1}", source.line, source.column).str()
                     : "-";
}

class Printer {
public:
  Printer(const PrecisionReport &report, const PrecisionOptions &options)
      : report(report), options(options), os(text) {}

  std::string print() {
    printHead();
    printRows();
    printUnits();
    printTrials();
    os << "\n" << verdict(report, options) << "\n";
    return text;
  }

private:
  void printHead() {
    os << formatv("{0}: @{1} in {2}, loss scale {3}, {4} of {5} samples of "
                  "{6}, {7}, on {8} ({9})\n",
                  report.subject.filename, report.subject.function,
                  report.precision, scaleText(report.scale),
                  options.batches == 1
                      ? std::string("1 batch")
                      : std::to_string(options.batches) + " batches",
                  options.batch, options.data,
                  options.init.empty() ? "first weights" : options.init,
                  report.device, report.where);
    os << formatv("tolerance {0:e1}: of max |g - g64| / max |g64|, the worst "
                  "parameter in the worst batch\n",
                  options.tolerance);
    if (report.settled)
      os << toText(*report.settled) << "\n";
    for (const std::string &name : report.reference.leftOut)
      os << name << " is left out: its gradient is zero but for rounding\n";
    for (const Unit &unit : report.units.fixed)
      os << formatv("{0} at {1} stays f32: a constant that it reads is not "
                    "one in {2}\n",
                    unit.kind, unit.place(), report.precision);
  }

  void printRows() {
    os << formatv("\n{0,-12} {1,8}  {2,8}  {3,-42} {4,10} {5,8} {6,6}",
                  "policy", "error", "L2", "worst", "KiB", "of " + base().name,
                  "casts");
    if (options.steps)
      os << formatv(" {0,9} {1,8}", "us", "of " + base().name);
    os << "\n";
    for (const PrecisionRow &row : report.rows)
      printRow(row);
    for (const PrecisionRow &row : report.rows)
      for (StringRef why : {StringRef(row.whyNot), StringRef(row.step.whyNot)})
        if (!why.empty())
          os << formatv("{0}: not trained: {1}\n", row.name,
                        why.split('\n').first);
  }

  const PrecisionRow &base() const { return report.base(); }

  void printRow(const PrecisionRow &row) {
    if (!row.whyNot.empty()) {
      os << formatv("{0,-12} {1,8}\n", row.name, "-");
      return;
    }
    const GradientError &error = row.gradients;
    os << formatv("{0,-12} {1,8}{2} {3,8}  {4,-42} ", row.name,
                  scientific(error.error),
                  row.isWithin(options.tolerance) ? " " : "!",
                  scientific(error.l2), worstOf(error));
    if (!row.step.whyNot.empty()) {
      os << formatv("{0,10}\n", "-");
      return;
    }
    os << formatv("{0,10:f1} {1,8:f3} {2,6}", row.step.bytes / 1024.0,
                  row.cost(false) / base().cost(false), row.casts);
    if (options.steps)
      os << formatv(" {0,9:f1} {1,8:f2}", row.cost(true),
                    row.cost(true) / base().cost(true));
    os << "\n";
  }

  /// "@fc1.weight, of linear 24:11"
  std::string worstOf(const GradientError &error) const {
    if (error.number == 0)
      return "";
    std::string text = report.reference.parameter(error.number);
    if (const OpFacts *user = report.reference.user(error.number)) {
      StringRef name = user->name;
      name.consume_front("mp.");
      text += (", of " + name + " " + lineOf(user->source)).str();
    }
    if (options.batches > 1)
      text += formatv(", batch {0}", error.batch + 1);
    return text;
  }

  void printUnits() {
    os << formatv("\n{0,-10} {1,-22} {2,9} {3,6} {4,6}\n", "line", "op",
                  "alone low", "torch", "found");
    for (auto [i, unit] : llvm::enumerate(report.units.free))
      os << formatv("{0,-10} {1,-22} {2,9} {3,6} {4,6}\n", unit.place(),
                    StringRef(unit.kind).drop_front(strlen("mp.")),
                    scientific(report.search.alone[i]),
                    typeIn(report.torch(), i), typeIn(report.found(), i));
  }

  std::string typeIn(const PrecisionRow &row, size_t unit) const {
    if (row.colouring.empty())
      return "-";
    return row.colouring[unit] ? report.dtype : "f32";
  }

  void printTrials() {
    const ColouringResult &search = report.search;
    os << formatv("\n{0} colourings measured, {1} {2}, {3:f1} s\n",
                  search.trials.size(), search.counted,
                  options.byTime ? "timed" : "counted", report.seconds);
    os << formatv("{0,4} {1,-44} {2,8} {3,9}  {4}\n", "#", "tried", "error",
                  "of " + base().name, "outcome");
    size_t leftOut = 0;
    for (auto [i, trial] : llvm::enumerate(search.trials)) {
      bool isTaken = trial.outcome == Trial::Outcome::Taken;
      if (!options.all && !isTaken && i >= kTrials) {
        ++leftOut;
        continue;
      }
      os << formatv("{0,4} {1,-44} {2,8} {3,9}  {4}\n", i + 1, trial.why,
                    scientific(trial.error), shareOf(trial), outcomeOf(trial));
    }
    if (leftOut)
      os << formatv("{0} more were not taken: --all prints them\n", leftOut);
  }

  std::string shareOf(const Trial &trial) const {
    if (!std::isfinite(trial.cost))
      return "-";
    return formatv("{0:f3}", options.byTime ? trial.cost
                                            : trial.cost / base().cost(false));
  }

  static StringRef outcomeOf(const Trial &trial) {
    switch (trial.outcome) {
    case Trial::Outcome::Taken:
      return "the cheapest so far";
    case Trial::Outcome::Beyond:
      return "beyond the tolerance";
    case Trial::Outcome::NotCheaper:
      return std::isfinite(trial.cost) ? "not cheaper"
                                       : "cannot be trained with";
    }
    llvm_unreachable("all outcomes handled");
  }

  const PrecisionReport &report;
  const PrecisionOptions &options;
  std::string text;
  raw_string_ostream os;
};

} // namespace

std::string toText(const PrecisionReport &report,
                   const PrecisionOptions &options) {
  return Printer(report, options).print();
}

} // namespace mp::precision
