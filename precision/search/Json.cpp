//===- Json.cpp - results of a search as JSON -----------------------------===//
#include "support/Json.h"
#include "precision/search/Precision.h"
#include "runtime/Profile.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace mp::precision {
namespace {

json::Value text(StringRef value) { return validUtf8(value); }

/// JSON has no infinity.
json::Value number(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

json::Array lowUnits(const PrecisionReport &report,
                     const Colouring &colouring) {
  json::Array low;
  for (auto [i, isLow] : llvm::enumerate(colouring))
    if (isLow)
      low.push_back(text(report.units.free[i].entry));
  return low;
}

json::Value rowOf(const PrecisionReport &report, const PrecisionRow &row,
                  double tolerance) {
  json::Object object{{"name", text(row.name)}};
  if (!row.whyNot.empty()) {
    object["not_measured"] = text(row.whyNot);
    return object;
  }
  const GradientError &gradients = row.gradients;
  object["error"] = number(gradients.error);
  object["l2"] = number(gradients.l2);
  object["non_finite"] = static_cast<int64_t>(gradients.nonFinite);
  object["within"] = row.isWithin(tolerance);
  object["batch"] = static_cast<int64_t>(gradients.batch);
  if (gradients.number) {
    object["parameter"] = text(report.reference.parameter(gradients.number));
    if (const OpFacts *user = report.reference.user(gradients.number)) {
      object["op"] = user->name;
      object["source"] = text(user->source.str());
    }
  }
  object["loss_scale"] = gradients.scale;
  object["casts"] = row.casts;
  if (!row.colouring.empty())
    object["low"] = lowUnits(report, row.colouring);
  if (!row.step.whyNot.empty()) {
    object["no_step"] = text(row.step.whyNot);
    return object;
  }
  object["bytes"] = static_cast<int64_t>(row.step.bytes);
  object["launches"] = static_cast<int64_t>(row.step.kernels);
  if (!row.step.microseconds.empty())
    object["median_microseconds"] = median(row.step.microseconds);
  return object;
}

json::Value trialOf(const PrecisionReport &report, const Trial &trial) {
  constexpr StringRef outcomes[] = {"taken", "beyond", "not cheaper"};
  return json::Object{{"why", text(trial.why)},
                      {"outcome", outcomes[unsigned(trial.outcome)]},
                      {"error", number(trial.error)},
                      {"cost", number(trial.cost)},
                      {"low", lowUnits(report, trial.colouring)}};
}

json::Value unitOf(const Unit &unit, double alone) {
  return json::Object{{"op", unit.kind},
                      {"entry", text(unit.entry)},
                      {"source", text(unit.source.str())},
                      {"alone", number(alone)}};
}

} // namespace

std::string toJson(const PrecisionReport &report,
                   const PrecisionOptions &options) {
  json::Array rows, units, trials, leftOut, fixed;
  for (const PrecisionRow &row : report.rows)
    rows.push_back(rowOf(report, row, options.tolerance));
  for (auto [unit, alone] : zip_equal(report.units.free, report.search.alone))
    units.push_back(unitOf(unit, alone));
  for (const Unit &unit : report.units.fixed)
    fixed.push_back(text(unit.entry));
  for (const Trial &trial : report.search.trials)
    trials.push_back(trialOf(report, trial));
  for (const std::string &name : report.reference.leftOut)
    leftOut.push_back(text(name));
  json::Object object{{"module", text(report.subject.filename)},
                      {"function", text(report.subject.function)},
                      {"recipe", text(report.subject.recipe)},
                      {"precision", report.precision},
                      {"loss_scale", report.scale},
                      {"device", report.device},
                      {"where", text(report.where)},
                      {"tolerance", options.tolerance},
                      {"cost", options.byTime ? "time" : "bytes"},
                      {"batch", static_cast<int64_t>(options.batch)},
                      {"batches", static_cast<int64_t>(options.batches)},
                      {"seed", static_cast<int64_t>(options.seed)},
                      {"policies", std::move(rows)},
                      {"ops", std::move(units)},
                      {"fixed", std::move(fixed)},
                      {"left_out", std::move(leftOut)},
                      {"trials", std::move(trials)},
                      {"counted", static_cast<int64_t>(report.search.counted)},
                      {"proven", report.search.isProven},
                      {"bounded", report.search.isBounded},
                      {"seconds", report.seconds},
                      {"verdict", text(verdict(report, options))}};
  std::string out;
  raw_string_ostream(out) << formatv("{0:2}", json::Value(std::move(object)))
                          << "\n";
  return out;
}

} // namespace mp::precision
