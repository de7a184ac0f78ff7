//===- TrainingLedger.cpp - gradient statistics of a run ------------------===//
#include "runtime/train/TrainingLedger.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/numerics/Calibration.h"
#include "runtime/train/Progress.h"
#include "runtime/train/ScalerState.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace mp {

Expected<std::unique_ptr<TrainingLedger>>
TrainingLedger::create(TrainingLedgerOptions options, Compiler compiler,
                       const SessionFactory &createSession) {
  std::unique_ptr<TrainingLedger> ledger(new TrainingLedger);
  auto model = Model::open(options.model, std::move(compiler), createSession);
  if (!model)
    return model.takeError();
  ledger->model = std::move(*model);
  ledger->options = std::move(options);
  auto whole = gradientsOf(*ledger->model, ledger->options.plan.largest());
  if (!whole)
    return whole.takeError();
  if (Error error = ledger->model->session().initialize(ledger->options.seed))
    return std::move(error);
  return ledger;
}

Error TrainingLedger::open(StringRef path, int64_t steps) {
  Expected<MetricsFile> opened = MetricsFile::open(path, steps);
  if (!opened)
    return opened.takeError();
  file.emplace(std::move(*opened));
  return Error::success();
}

/// A 16-bit parameter may be f32 in the run, if it has a master.
static bool isConvertible(const Variable &from, const Variable &to) {
  return from.type == to.type ||
         (from.type.shape == to.type.shape && isFloat(from.type.element) &&
          isFloat(to.type.element));
}

Error TrainingLedger::copyState(Session &run) {
  Session &own = model->session();
  std::vector<char> bytes, converted;
  for (const Variable &to : own.variables()) {
    auto from = find_if(run.variables(), [&](const Variable &variable) {
      return variable.name == to.name;
    });
    if (to.kind == VariableKind::Derived || from == run.variables().end() ||
        !isConvertible(*from, to))
      continue;
    bytes.resize(from->type.bytes());
    converted.resize(to.type.bytes());
    if (Error error = run.read(from->name, bytes))
      return error;
    convertElements(from->type.element, bytes, to.type.element, converted);
    if (Error error = own.write(to.name, converted))
      return error;
  }
  return own.derive();
}

/// The loss scale of the next step.
Expected<double> TrainingLedger::scaleOf(Session &run) {
  for (const Variable &variable : run.variables())
    if (variable.role.kind == VariableRole::Kind::Scale) {
      std::vector<char> bytes(variable.type.bytes());
      if (Error error = run.read(variable.name, bytes))
        return error;
      return loadElement(variable.type.element, bytes.data());
    }
  return model->initialScale();
}

/// Counts all micro-batches; an epoch's last one may be smaller.
Error TrainingLedger::count(Ledger &ledger, const Dataset &data,
                            int64_t batch) {
  const BatchPlan &plan = options.plan;
  BatchSize largest = plan.largest();
  auto whole = gradientsOf(*model, largest);
  if (!whole)
    return whole.takeError();
  auto binding =
      data.bind((*whole)->entry(), largest.length, plan.samplesOfBuckets());
  if (!binding)
    return binding.takeError();
  Prefetcher inputs(data, std::move(*binding),
                    {.plan = plan,
                     .seed = options.seed,
                     .shuffle = options.shuffle,
                     .firstStep = batch,
                     .lastStep = batch + 1});
  for (int64_t micro = 0; micro < plan.microBatches(batch); ++micro) {
    BatchSize size = plan.size(batch, micro);
    auto executable = gradientsOf(*model, size);
    if (!executable)
      return executable.takeError();
    auto taken = inputs.take((*executable)->entry());
    if (!taken)
      return taken.takeError();
    auto results = ledger.add(**executable, *taken, size.rows);
    if (!results)
      return results.takeError();
  }
  return Error::success();
}

static std::string warning(const Ledger &ledger, int64_t step,
                           const Advice &advice) {
  std::string text;
  raw_string_ostream os(text);
  auto percent = [&](const GradientStatistics &gradient) {
    os << format("%.1f%%", 100 * gradient.scaled.share(Fate::Flushed));
  };
  os << "ledger of step " << step << ": at loss scale "
     << scaleText(ledger.scale) << " ";
  percent(ledger.all());
  os << " of what is not zero in gradients becomes zero in f16, and ";
  percent(ledger.mostFlushed());
  os << " of that of " << ledger.mostFlushed().str() << "; " << advice.text;
  return text;
}

Expected<std::string> TrainingLedger::write(Session &run, const Dataset &data,
                                            int64_t step, int64_t batch) {
  Ledger ledger;
  Expected<double> scale = scaleOf(run);
  if (!scale)
    return scale.takeError();
  ledger.scale = *scale;
  if (Error error = copyState(run))
    return std::move(error);
  if (Error error = count(ledger, data, batch))
    return std::move(error);
  Advice advice = advise(ledger, options.scales);
  file->add(step, toJson(ledger, step, advice));
  if (Error error = file->flush())
    return std::move(error);
  bool hadWarned = std::exchange(hasWarned, ledger.underflows());
  return hasWarned && !hadWarned ? warning(ledger, step, advice) : "";
}

} // namespace mp
