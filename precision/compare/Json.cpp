//===- Json.cpp - results of a comparison as JSON -------------------------===//
#include "support/Json.h"
#include "precision/compare/Comparison.h"
#include "runtime/Profile.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace mp::precision {
namespace {

json::Value text(StringRef value) { return validUtf8(value); }

json::Value differenceOf(const std::optional<Difference> &difference) {
  if (!difference)
    return nullptr;
  // JSON has no infinity.
  bool isFinite = std::isfinite(difference->error);
  return json::Object{
      {"error", isFinite ? json::Value(difference->error) : nullptr},
      {"non_finite", static_cast<int64_t>(difference->nonFinite)},
      {"beyond", static_cast<int64_t>(difference->beyond)},
      {"elements", static_cast<int64_t>(difference->elements)}};
}

json::Value orNull(int64_t number) {
  return number ? json::Value(number) : json::Value(nullptr);
}

json::Value stepOf(const StepFacts &step) {
  if (!step.whyNot.empty())
    return json::Object{{"error", text(step.whyNot)}};
  if (step.microseconds.empty())
    return nullptr;
  json::Array all;
  for (double time : step.microseconds)
    all.push_back(time);
  return json::Object{{"launches", static_cast<int64_t>(step.kernels)},
                      {"bytes", static_cast<int64_t>(step.bytes)},
                      {"skipped", static_cast<int64_t>(step.skipped)},
                      {"median_microseconds", median(step.microseconds)},
                      {"microseconds", std::move(all)}};
}

json::Value sideOf(const Side &side) {
  return json::Object{
      {"name", text(side.setting.title)},
      {"precision", text(side.setting.precision)},
      {"policy", side.setting.policy.empty() ? json::Value(nullptr)
                                             : text(side.setting.policy)},
      {"tolerance", side.tolerance},
      {"loss_scale", side.variant.scale},
      {"skipped_before",
       static_cast<int64_t>(side.settled ? side.settled->skipped : 0)},
      {"casts", side.variant.casts},
      {"cast_bytes", side.variant.castBytes},
      {"step_casts", side.variant.stepCasts},
      {"step_cast_bytes", side.variant.stepCastBytes},
      {"first_beyond", orNull(side.firstBeyond())},
      {"first_gradient_beyond", orNull(side.firstGradientBeyond())},
      {"step", stepOf(side.step)}};
}

json::Value opUnder(const Side &side, int64_t number) {
  const OpFacts &op = side.variant.ops.at(number);
  json::Array casts;
  for (const CastFact &cast : op.casts)
    casts.push_back(json::Object{{"operand", cast.operand},
                                 {"from", cast.from},
                                 {"to", cast.to},
                                 {"shared", cast.shared}});
  json::Object object{{"name", text(side.setting.title)},
                      {"runs_in", op.type},
                      {"casts", std::move(casts)}};
  object["category"] =
      op.category.empty() ? json::Value(nullptr) : json::Value(op.category);
  object["why"] = op.why.empty() ? json::Value(nullptr) : text(op.why);
  auto found = side.differences.find(number);
  OpDifference none;
  const OpDifference &difference =
      found == side.differences.end() ? none : found->second;
  object["value"] = differenceOf(difference.value);
  object["gradient"] = differenceOf(difference.gradient);
  return object;
}

json::Value opOf(const Comparison &comparison, int64_t number,
                 const OpFacts &op) {
  json::Array under;
  for (const Side &side : comparison.sides)
    under.push_back(opUnder(side, number));
  json::Array operands;
  for (int64_t operand : op.operands)
    operands.push_back(operand);
  json::Object object{{"number", number},
                      {"op", op.name},
                      {"source", text(op.source.str())},
                      {"text", text(comparison.subject.line(op.source))},
                      {"operands", std::move(operands)},
                      {"policies", std::move(under)}};
  auto wide = comparison.reference.ops.find(number);
  object["reference"] =
      wide == comparison.reference.ops.end() ? "" : wide->second.type;
  if (!op.variable.empty())
    object["variable"] = text(op.variable);
  return object;
}

} // namespace

std::string toJson(const Comparison &comparison, const DiffOptions &options) {
  const Subject &subject = comparison.subject;
  json::Array sides, ops;
  for (const Side &side : comparison.sides)
    sides.push_back(sideOf(side));
  for (const auto &[number, op] : comparison.sides.front().variant.ops)
    if (op.yieldsFloats)
      ops.push_back(opOf(comparison, number, op));
  json::Object object{{"module", text(subject.filename)},
                      {"function", text(subject.function)},
                      {"batch", static_cast<int64_t>(options.batch)},
                      {"device", comparison.device},
                      {"where", text(comparison.where)},
                      {"policies", std::move(sides)},
                      {"ops", std::move(ops)}};
  object["recipe"] =
      subject.recipe.empty() ? json::Value(nullptr) : text(subject.recipe);
  std::string out;
  raw_string_ostream(out) << formatv("{0:2}", json::Value(std::move(object)))
                          << "\n";
  return out;
}

} // namespace mp::precision
