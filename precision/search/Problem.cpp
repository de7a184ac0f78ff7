//===- Problem.cpp - colourings of a graph, measured ----------------------===//
#include "precision/search/Problem.h"
#include "precision/search/Trials.h"
#include "runtime/Profile.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace llvm;

namespace mp::precision {

Expected<CandidateFolder> CandidateFolder::create() {
  SmallString<128> path;
  if (std::error_code error = sys::fs::createUniqueDirectory("mp-search", path))
    return makeSystemError("create", "a temporary folder", error.value());
  return CandidateFolder(path);
}

CandidateFolder::~CandidateFolder() {
  if (!path.empty())
    sys::fs::remove_directories(path);
}

Expected<std::string> CandidateFolder::write(StringRef policy) {
  std::string file = formatv("{0}/{1}.json", path, written++);
  auto output = OutputFile::createNew(file, file);
  if (!output)
    return output.takeError();
  if (Error error = output->write(policy))
    return std::move(error);
  if (Error error = output->close())
    return std::move(error);
  return file;
}

GraphColouring::GraphColouring(const Subject &subject, const Units &units,
                               const Setting &type,
                               const GradientReference &reference,
                               Measurer &measurer, CandidateFolder &folder)
    : subject(subject), units(units), type(type), reference(reference),
      measurer(measurer), folder(folder) {
  units.describeTo(*this);
}

Expected<Setting> GraphColouring::settingOf(const Colouring &colouring) {
  auto file = folder.write(
      toPolicy(units, colouring, "candidate", "a candidate", type.dtype));
  if (!file)
    return file.takeError();
  Setting setting = type;
  setting.policy = *file;
  return setting;
}

Expected<std::vector<double>>
GraphColouring::costs(ArrayRef<Colouring> colourings) {
  std::vector<Setting> settings;
  for (const Colouring &colouring : colourings) {
    auto setting = settingOf(colouring);
    if (!setting)
      return setting.takeError();
    settings.push_back(std::move(*setting));
  }
  auto counted = measurer.count(settings);
  if (!counted)
    return counted.takeError();
  std::vector<double> costs;
  for (const StepFacts &step : *counted)
    costs.push_back(step.whyNot.empty() ? step.bytes : INFINITY);
  return costs;
}

Expected<double> GraphColouring::error(const Colouring &colouring) {
  auto setting = settingOf(colouring);
  if (!setting)
    return setting.takeError();
  auto measured = reference.measure(subject, *setting, measurer);
  if (!measured)
    return measured.takeError();
  return measured->error;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

Error runInTurn(ArrayRef<TimedStep *> steps, uint64_t warmup, uint64_t count) {
  for (uint64_t i = 0; i < warmup + count; ++i)
    for (TimedStep *step : steps)
      if (Error error = step->run(/*counts=*/i >= warmup))
        return error;
  return Error::success();
}

Error TimedColouring::compareWith(const Setting &setting) {
  isCostExact = false;
  margin = 0.02;
  auto step = measurer.prepare(setting);
  if (!step)
    return step.takeError();
  if (!(*step)->facts.whyNot.empty())
    return makeError("{0}: {1}: {2}", subject.filename, setting.title,
                     (*step)->facts.whyNot);
  base = std::move(*step);
  return Error::success();
}

/// Returns the ratio of two steps that run in turn, in blocks: other load of
/// the machine comes and goes within milliseconds. If blocks disagree, more of
/// them are run.
static Expected<double> timeBeside(TimedStep &step, TimedStep &base) {
  constexpr uint64_t warmup = 3, steps = 11;
  constexpr size_t least = 3, most = 9;
  constexpr double agreement = 0.05;
  std::vector<double> ratios;
  while (ratios.size() < most) {
    if (Error error = joinErrors(base.restart(), step.restart()))
      return std::move(error);
    if (Error error = runInTurn({&base, &step}, warmup, steps))
      return std::move(error);
    ratios.push_back(median(step.facts.microseconds) /
                     median(base.facts.microseconds));
    auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    if (ratios.size() >= least && *high - *low <= agreement * *low)
      break;
  }
  return median(ratios);
}

Expected<std::vector<double>>
TimedColouring::costs(ArrayRef<Colouring> colourings) {
  std::vector<double> costs;
  for (const Colouring &colouring : colourings) {
    auto setting = settingOf(colouring);
    if (!setting)
      return setting.takeError();
    auto step = measurer.prepare(*setting);
    if (!step) {
      consumeError(step.takeError()); // training refuses it
      costs.push_back(INFINITY);
      continue;
    }
    if (!(*step)->facts.whyNot.empty()) {
      costs.push_back(INFINITY);
      continue;
    }
    auto ratio = timeBeside(**step, *base);
    if (!ratio)
      return ratio.takeError();
    costs.push_back(*ratio);
  }
  return costs;
}

Expected<TimedColouring::Finalist>
TimedColouring::fastest(ArrayRef<Colouring> candidates, uint64_t steps) {
  std::vector<std::unique_ptr<TimedStep>> owned;
  if (Error error = base->restart())
    return std::move(error);
  std::vector<TimedStep *> inTurn = {base.get()};
  for (const Colouring &colouring : candidates) {
    auto setting = settingOf(colouring);
    if (!setting)
      return setting.takeError();
    auto step = measurer.prepare(*setting);
    if (!step)
      return step.takeError();
    inTurn.push_back(step->get());
    owned.push_back(std::move(*step));
  }
  if (Error error = runInTurn(inTurn, /*warmup=*/5, steps))
    return std::move(error);
  std::vector<double> ratios;
  for (auto &step : owned)
    ratios.push_back(median(step->facts.microseconds) /
                     median(base->facts.microseconds));
  double least = *llvm::min_element(ratios);
  std::optional<size_t> best;
  for (auto [i, ratio] : llvm::enumerate(ratios))
    if (ratio <= least * (1 + margin) &&
        (!best || lowUnits(candidates[i]) < lowUnits(candidates[*best])))
      best = i;
  return Finalist{*best, ratios[*best]};
}

} // namespace mp::precision
