//===- TimedStep.cpp - a step that is run and timed -----------------------===//
#include "precision/compare/TimedStep.h"
#include "runtime/data/Convert.h"
#include "runtime/train/CheckpointWeights.h"
#include "runtime/train/Progress.h"
#include "support/Error.h"
#include <chrono>
#include <cmath>

using namespace llvm;

namespace mp::precision {

std::string toText(const SettledScale &settled) {
  return formatv("gradients overflow at the first loss scale, {0}; {1} skipped "
                 "step{2} lead{3} to {4}",
                 scaleText(settled.first), settled.skipped,
                 settled.skipped == 1 ? "" : "s",
                 settled.skipped == 1 ? "s" : "", scaleText(settled.scale));
}

Expected<TimedStep::State> TimedStep::scalerState() {
  State state;
  for (const Variable &variable : model->session().variables()) {
    if (variable.kind != VariableKind::Scaler)
      continue;
    auto &[name, bytes] = state.emplace_back(
        variable.name, std::vector<char>(variable.type.bytes()));
    if (Error error = model->session().read(name, bytes))
      return std::move(error);
  }
  return state;
}

Error TimedStep::setFirstScale() {
  if (!firstScale)
    return Error::success();
  for (const Variable &variable : model->session().variables()) {
    if (variable.role.kind != VariableRole::Kind::Scale)
      continue;
    std::vector<char> bytes(variable.type.bytes());
    storeElement(variable.type.element, *firstScale, bytes.data());
    if (Error error = model->session().write(variable.name, bytes))
      return error;
  }
  return Error::success();
}

Error TimedStep::restart() {
  facts.microseconds.clear();
  facts.skipped = 0;
  Session &session = model->session();
  if (Error error = session.initialize(seed))
    return error;
  if (!init.empty())
    if (Error error = loadWeights(init, session))
      return error;
  if (settled.empty())
    return setFirstScale();
  for (auto &[name, bytes] : settled)
    if (Error error = session.write(name, bytes))
      return error;
  return Error::success();
}

Expected<TimedStep::Outcome> TimedStep::step(ArrayRef<TensorView> inputs) {
  auto ticket = program.submit(inputs);
  if (!ticket)
    return ticket.takeError();
  auto results = program.last->results(*ticket);
  if (!results)
    return results.takeError();
  auto read = [&](const std::optional<unsigned> &result, double otherwise) {
    return result ? readScalar(program.last->entry(), *results, *result)
                  : otherwise;
  };
  return Outcome{read(program.loss, 0), read(program.scale, 1),
                 read(program.skipped, 0) != 0};
}

Error TimedStep::run(bool counts) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  auto outcome = step(inputs);
  if (!outcome)
    return outcome.takeError();
  Clock::time_point end = Clock::now();
  if (counts && outcome->isSkipped)
    ++facts.skipped;
  else if (counts)
    facts.microseconds.push_back(
        std::chrono::duration<double, std::micro>(end - begin).count());
  return Error::success();
}

Expected<std::optional<SettledScale>>
TimedStep::settle(ArrayRef<StepInputs> batches) {
  // A run of training ends after so many skipped steps in a row.
  constexpr uint64_t most = 100;
  std::optional<SettledScale> found;
  for (const StepInputs &batch : batches) {
    if (Error error = restart())
      return std::move(error);
    for (uint64_t skipped = 0;; ++skipped) {
      auto before = scalerState();
      if (!before)
        return before.takeError();
      auto outcome = step(batch.views);
      if (!outcome)
        return outcome.takeError();
      auto after = scalerState();
      if (!after)
        return after.takeError();
      if (!found)
        found = {outcome->scale, outcome->scale, 0};
      found->scale = std::min(found->scale, outcome->scale);
      settled = std::move(*after);
      if (!outcome->isSkipped)
        break;
      ++found->skipped;
      bool isStuck = settled == *before || skipped + 1 == most;
      if (!isStuck && std::isfinite(outcome->loss))
        continue;
      facts.whyNot =
          formatv("no step is applied: {0} at loss scale {1}",
                  std::isfinite(outcome->loss)
                      ? "gradients overflow still"
                      : "the loss is not finite, which no scale mends, here",
                  scaleText(outcome->scale));
      settled.clear();
      return std::nullopt;
    }
  }
  if (Error error = restart())
    return std::move(error);
  return found;
}

} // namespace mp::precision
