//===- Precision.cpp - the cheapest precision within a tolerance ----------===//
#include "precision/search/Precision.h"
#include "passes/Passes.h"
#include "precision/search/Problem.h"
#include "runtime/Device.h"
#include "runtime/Profile.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;

namespace mp::precision {

double PrecisionRow::cost(bool byTime) const {
  if (!whyNot.empty() || !step.whyNot.empty())
    return INFINITY;
  return byTime ? median(step.microseconds) : step.bytes;
}

namespace {

class Searching {
public:
  Searching(const PrecisionOptions &options) : options(options) {}

  Expected<PrecisionReport> run() {
    auto begin = std::chrono::steady_clock::now();
    for (auto step :
         {&Searching::setUp, &Searching::measurePresets, &Searching::search,
          &Searching::writeFound, &Searching::timeRows})
      if (Error error = (this->*step)())
        return std::move(error);
    report.device = measurer->device;
    report.where = measurer->where;
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    return std::move(report);
  }

private:
  Error setUp() {
    if (auto choice = chooseDevice(options.execution.device); !choice)
      return choice.takeError();
    auto subject = readSubject(options.module, options.function, options.batch,
                               options.execution.onNote);
    if (!subject)
      return subject.takeError();
    report.subject = std::move(*subject);
    report.subject.scaler = options.scaler;
    if (report.subject.recipe.empty())
      return makeError("{0}: @{1} has no recipe (mp.train), and so no "
                       "gradients to search by",
                       options.module, report.subject.function);
    auto chosen =
        parseSetting("torch", options.execution.precision, report.subject);
    if (!chosen)
      return chosen.takeError();
    type = std::move(*chosen);
    if (type.dtype == "f16")
      type.scale = options.scale;
    if (type.dtype != "f16" && type.dtype != "bf16")
      return makeError("--precision: a search is for fp16 or bf16, not {0}",
                       type.precision);
    report.precision = type.precision;
    report.dtype = type.dtype;
    measurer.emplace(
        MeasureOptions{.module = options.module,
                       .data = options.data,
                       .init = options.init,
                       .batch = options.batch,
                       .batches = options.batches,
                       .seed = options.seed,
                       .totalSteps = options.warmup + options.steps,
                       .scale = options.scale,
                       .execution = options.execution},
        report.subject);
    auto units = findUnits(report.subject, type);
    if (!units)
      return units.takeError();
    report.units = std::move(*units);
    auto reference = GradientReference::create(report.subject, *measurer);
    if (!reference)
      return reference.takeError();
    report.reference = std::move(*reference);
    auto folder = CandidateFolder::create();
    if (!folder)
      return folder.takeError();
    candidates.emplace(std::move(*folder));
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  /// Measures the presets before the search, which begins with their
  /// colourings.
  Error measurePresets() {
    report.rows.push_back(measureRow("f32", plainSetting()));
    std::vector<std::string> names = {"torch"};
    names.push_back(report.subject.policy);
    llvm::append_range(
        names, options.policies.empty()
                   ? std::vector<std::string>{"torch-cpu", "keras", "ort"}
                   : options.policies);
    for (const std::string &name : names) {
      bool isKnown = llvm::any_of(report.rows, [&](const PrecisionRow &row) {
        return row.name == name;
      });
      if (name.empty() || isKnown)
        continue;
      Setting setting = type;
      setting.policy = name;
      report.rows.push_back(measureRow(name, std::move(setting)));
      if (const auto &settled = report.rows.back().gradients.settled;
          settled && name == "torch") {
        report.settled = settled;
        type.scale = settled->scale; // the scale at which the others continue
      }
    }
    return Error::success();
  }

  PrecisionRow measureRow(StringRef name, Setting setting) {
    PrecisionRow row;
    row.name = name.str();
    row.setting = std::move(setting);
    if (Error error = fill(row))
      row.whyNot = toString(std::move(error));
    return row;
  }

  Error fill(PrecisionRow &row) {
    auto variant = makeVariant(report.subject, row.setting);
    if (!variant)
      return variant.takeError();
    row.casts = variant->stepCasts;
    if (row.setting.dtype == type.dtype) {
      row.colouring = colouringOf(report.units, *variant, type.dtype);
    }
    auto gradients =
        report.reference.measure(report.subject, row.setting, *measurer);
    if (!gradients)
      return gradients.takeError();
    row.gradients = *gradients;
    report.scale = std::max(report.scale, gradients->scale);
    auto counted = measurer->count(row.setting);
    if (!counted)
      return counted.takeError();
    row.step = std::move(counted->front());
    return Error::success();
  }

  /// Times all settings that train, in turn.
  Error timeRows() {
    if (options.steps == 0)
      return Error::success();
    std::vector<std::unique_ptr<TimedStep>> owned;
    std::vector<TimedStep *> inTurn;
    std::vector<PrecisionRow *> timed;
    for (PrecisionRow &row : report.rows) {
      if (!row.whyNot.empty() || !row.step.whyNot.empty())
        continue;
      auto step = measurer->prepare(row.setting);
      if (!step)
        return step.takeError();
      if (!(*step)->facts.whyNot.empty()) {
        row.step.whyNot = (*step)->facts.whyNot;
        continue;
      }
      inTurn.push_back(step->get());
      owned.push_back(std::move(*step));
      timed.push_back(&row);
    }
    if (Error error = runInTurn(inTurn, options.warmup, options.steps))
      return error;
    for (auto [row, step] : zip_equal(timed, inTurn))
      row->step = step->facts;
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // The search
  //===--------------------------------------------------------------------===//

  Error search() {
    ColouringOptions search{.tolerance = options.tolerance,
                            .maxEvaluations = options.maxEvaluations};
    for (const PrecisionRow &row : report.rows)
      if (!row.colouring.empty())
        search.starts.push_back({row.name, row.colouring});
    std::unique_ptr<GraphColouring> problem;
    TimedColouring *timed = nullptr;
    if (options.byTime) {
      auto made = makeProblem<TimedColouring>();
      timed = made.get();
      if (Error error = timed->compareWith(report.base().setting))
        return error;
      problem = std::move(made);
    } else {
      problem = makeProblem<GraphColouring>();
    }
    auto found = searchColouring(*problem, search);
    if (!found)
      return found.takeError();
    report.search = std::move(*found);
    if (!report.search.best)
      return nothingWithin();
    return timed ? chooseFinalist(*timed) : Error::success();
  }

  template <typename Problem> std::unique_ptr<Problem> makeProblem() {
    return std::make_unique<Problem>(report.subject, report.units, type,
                                     report.reference, *measurer, *candidates);
  }

  Error nothingWithin() const {
    const Trial *least = nullptr;
    for (const Trial &trial : report.search.trials)
      if (!least || trial.error < least->error)
        least = &trial;
    const PrecisionRow &plain = report.rows.front();
    return makeError(
        "{0}: nothing is within {1:e1} of f64: f32 has {2:e1} ({3}), and the "
        "least error of what was tried is {4:e1} ({5}); give a greater "
        "--tolerance",
        options.module, options.tolerance, plain.gradients.error,
        plain.gradients.number
            ? report.reference.parameter(plain.gradients.number)
            : plain.whyNot,
        least->error, least->why);
  }

  /// Times of single candidates are minutes apart, so the best are run in turn.
  Error chooseFinalist(TimedColouring &problem) {
    constexpr size_t most = 6;
    std::vector<const Trial *> within;
    for (const Trial &trial : report.search.trials)
      if (trial.outcome != Trial::Outcome::Beyond && std::isfinite(trial.cost))
        within.push_back(&trial);
    llvm::sort(within, [](const Trial *a, const Trial *b) {
      return std::tie(a->cost, a->colouring) < std::tie(b->cost, b->colouring);
    });
    const Trial *plain = &report.search.trials.front();
    within.resize(std::min(most, within.size()));
    if (!is_contained(within, plain)) // f32 throughout
      within.push_back(plain);
    std::vector<Colouring> finalists;
    for (const Trial *trial : within)
      finalists.push_back(trial->colouring);
    auto best =
        problem.fastest(finalists, std::max<uint64_t>(options.steps, 100));
    if (!best)
      return best.takeError();
    report.search.best = finalists[best->index];
    report.search.error = within[best->index]->error;
    report.search.cost = best->cost;
    return Error::success();
  }

  //===--------------------------------------------------------------------===//
  // Result
  //===--------------------------------------------------------------------===//

  std::string about() const {
    return formatv(
        "found by mp-run search in {0}: in {1}, gradients of parameters within "
        "{2:e1} of f64 (greatest error {3:e1}) over {4} batch{5} of {6}, seed "
        "{7}, {8}; {9}",
        sys::path::filename(options.module), report.precision,
        options.tolerance, report.search.error, options.batches,
        options.batches == 1 ? "" : "es", options.batch, options.seed,
        options.init.empty() ? "first weights" : "weights of " + options.init,
        costText());
  }

  /// Returns the cost beside torch's, or f32's if torch's policy cannot be
  /// trained with.
  std::string costText() const {
    const PrecisionRow &base = report.base();
    double share = options.byTime
                       ? report.search.cost
                       : report.search.cost / base.cost(/*byTime=*/false);
    return formatv(options.byTime ? "a step takes {0:f3} of {1}'s time"
                                  : "a step moves {0:f3} of {1}'s bytes",
                   share, base.name);
  }

  /// Measures low throughout for comparison; then the file, as it was written.
  Error writeFound() {
    GraphColouring problem(report.subject, report.units, type, report.reference,
                           *measurer, *candidates);
    auto low = problem.settingOf(Colouring(report.units.free.size(), true));
    if (!low)
      return low.takeError();
    report.rows.push_back(measureRow("low", std::move(*low)));
    std::string name =
        options.out.empty() ? "found" : sys::path::stem(options.out).str();
    report.policy = toPolicy(report.units, *report.search.best, name, about(),
                             report.dtype);
    Setting setting = type;
    setting.policy = options.out;
    if (options.out.empty()) {
      auto file = candidates->write(report.policy);
      if (!file)
        return file.takeError();
      setting.policy = *file;
    } else if (Error error =
                   writeAtomically(options.out, [&](OutputFile &file) {
                     return file.write(report.policy);
                   }))
      return error;
    PrecisionRow row = measureRow("found", std::move(setting));
    if (!row.whyNot.empty())
      return makeError("{0}: the policy that was written does not load: {1}",
                       options.out, row.whyNot);
    bool isSame = row.gradients.error == report.search.error &&
                  row.colouring == *report.search.best &&
                  (options.byTime || row.step.bytes == report.search.cost);
    if (!isSame)
      return makeError("{0}: the policy that was written is not what was "
                       "found: error {1:e3} instead of {2:e3}, {3} bytes "
                       "instead of {4}; this is a fault of the search",
                       options.out.empty() ? "found" : options.out,
                       row.gradients.error, report.search.error, row.step.bytes,
                       report.search.cost);
    report.rows.push_back(std::move(row));
    return Error::success();
  }

  const PrecisionOptions &options;
  PrecisionReport report;
  Setting type;
  std::optional<Measurer> measurer;
  std::optional<CandidateFolder> candidates;
};

} // namespace

Expected<PrecisionReport> searchPrecision(const PrecisionOptions &options) {
  return Searching(options).run();
}

} // namespace mp::precision
