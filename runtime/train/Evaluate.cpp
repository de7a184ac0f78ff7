//===- Evaluate.cpp - scores of a model over a data set -------------------===//
#include "runtime/train/Evaluate.h"
#include "program/Names.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/CheckpointWeights.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

/// Adds the scalar results of a batch, weighted by its rows.
static void accumulate(NamedNumbers &sums, const Entry &entry,
                       Executable::Results results, int64_t rows) {
  size_t at = 0;
  for (auto [i, result] : llvm::enumerate(entry.results)) {
    if (!isScalar(result) || result.name.empty())
      continue;
    if (at == sums.size())
      sums.emplace_back(result.name, 0.0);
    sums[at++].second += rows * readScalar(entry, results, i);
  }
}

Expected<NamedNumbers> scores(Model &model, const Dataset &data, int64_t batch,
                              std::optional<Confusion> *confusion) {
  BatchPlan plan{.samples = data.samples(),
                 .batch = std::min(batch, data.samples())};
  if (plan.remainder())
    model.compileAhead(Goal::Evaluate, plan.remainder());
  Expected<Executable *> whole =
      model.get(Goal::Evaluate, kEvaluateEntry, plan.batch);
  if (!whole)
    return whole.takeError();
  std::optional<Confusion> counts = Confusion::of((*whole)->entry());
  Expected<ColumnBinding> binding = data.bind((*whole)->entry());
  if (!binding)
    return binding.takeError();
  Prefetcher batches(
      data, std::move(*binding),
      {.plan = plan, .shuffle = false, .lastStep = plan.stepsPerEpoch()});
  NamedNumbers sums;
  for (int64_t step = 0; step < plan.stepsPerEpoch(); ++step) {
    auto inputs = batches.take();
    if (!inputs)
      return inputs.takeError();
    int64_t rows = plan.rows(step);
    Executable *executable = *whole;
    if (rows != plan.batch) {
      auto part = model.get(Goal::Evaluate, kEvaluateEntry, rows);
      if (!part)
        return part.takeError();
      executable = *part;
    }
    Expected<Executable::Results> results =
        executable->run(*inputs, Executable::Ranges::Known);
    if (!results)
      return results.takeError();
    accumulate(sums, executable->entry(), *results, rows);
    if (counts)
      counts->add(*inputs, *results, step * plan.batch, rows);
  }
  for (auto &[name, value] : sums)
    value /= data.samples();
  bool isResult = llvm::any_of(
      sums, [](const auto &score) { return score.first == kMacroF1Score; });
  if (counts && !isResult)
    sums.emplace_back(kMacroF1Score.str(), counts->macroF1());
  if (confusion)
    *confusion = std::move(counts);
  return sums;
}

/// Takes precision and policy from the options, else those that the checkpoint
/// was trained with; plain weights leave them to the recipe.
static void chooseCasts(const EvalOptions &options,
                        const std::optional<Checkpoint> &checkpoint,
                        CompileOptions &compile) {
  compile.precision = options.precision;
  compile.policy = options.policy;
  if (!checkpoint)
    return;
  if (compile.precision.empty())
    compile.precision = checkpoint->state().precision;
  if (compile.policy.empty())
    compile.policy = checkpoint->state().policy;
  // A checkpoint is data, so the passes that it names are not loaded.
  const std::string &inserted = checkpoint->state().insertPasses;
  if (options.onNote && !inserted.empty() && options.insertPasses.empty())
    options.onNote("note: the checkpoint was trained with --insert-pass " +
                   inserted + ", this evaluation is without");
}

Expected<TrainedModel> TrainedModel::open(const EvalOptions &options,
                                          Compiler compiler,
                                          SessionFactory createSession) {
  std::optional<Checkpoint> checkpoint;
  if (auto found = Checkpoint::open(options.checkpoint))
    checkpoint = std::move(*found);
  else
    consumeError(found.takeError());
  ModelOptions modelOptions{.module = options.module,
                            .text = options.text,
                            .device = options.device,
                            .threads = options.threads,
                            .onednn = options.onednn,
                            .plan = options.plan,
                            .onNote = options.onNote};
  chooseCasts(options, checkpoint, modelOptions.compile);
  modelOptions.compile.function = options.function;
  modelOptions.compile.plugins = options.plugins;
  modelOptions.compile.insertPasses = options.insertPasses;
  modelOptions.compile.predictions = options.predictions;
  auto model =
      Model::open(std::move(modelOptions), std::move(compiler), createSession);
  if (!model)
    return model.takeError();
  TrainedModel trained{std::move(*model), {}};
  if (checkpoint)
    trained.classes = checkpoint->state().classes;
  return trained;
}

Expected<Executable *> TrainedModel::load(const EvalOptions &options, Goal goal,
                                          StringRef entry, int64_t batch) {
  auto executable = model->get(goal, entry, batch);
  if (!executable)
    return executable.takeError();
  if (Error error = model->session().initialize(/*seed=*/0))
    return std::move(error);
  if (Error error =
          loadWeights(options.checkpoint, model->session(),
                      options.averaged ? Weights::Averaged : Weights::Trained))
    return std::move(error);
  return executable;
}

Expected<NamedNumbers> evaluate(const EvalOptions &options, Compiler compiler,
                                SessionFactory createSession) {
  auto trained =
      TrainedModel::open(options, std::move(compiler), createSession);
  if (!trained)
    return trained.takeError();
  Model &model = *trained->model;
  auto source = model.dataSource("test", /*required=*/true);
  if (!source)
    return source.takeError();
  Expected<Dataset> data = Dataset::open(**source, options.data);
  if (!data)
    return data.takeError();
  if (Error error =
          checkClasses(trained->classes, data->classes(), options.data))
    return std::move(error);
  int64_t batch = std::min(options.batch, data->samples());
  auto executable =
      trained->load(options, Goal::Evaluate, kEvaluateEntry, batch);
  if (!executable)
    return executable.takeError();
  return scores(model, *data, batch);
}

} // namespace mp
