//===- Evaluate.cpp - scores of a model over a data set -------------------===//
#include "runtime/train/Evaluate.h"
#include "program/Names.h"
#include "runtime/data/Prefetcher.h"
#include "runtime/ranks/Communicator.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/CheckpointWeights.h"
#include "support/Error.h"
#include <cstring>
#include <set>

using namespace llvm;

namespace mp {

namespace {
/// The scores of the batches that this rank evaluates: a number of each scalar
/// result for each of them, times its rows.
struct BatchScores {
  std::vector<std::string> names;
  std::vector<double> terms;

  explicit BatchScores(const Entry &entry) {
    for (const Result &result : entry.results)
      if (isScalar(result) && !result.name.empty())
        names.push_back(result.name);
  }
  void add(const Entry &entry, Executable::Results results, int64_t rows) {
    for (auto [i, result] : llvm::enumerate(entry.results))
      if (isScalar(result) && !result.name.empty())
        terms.push_back(rows * readScalar(entry, results, i));
  }
  /// Adds up in the order of batches, whoever has evaluated them.
  NamedNumbers means(int64_t samples) const {
    NamedNumbers sums;
    for (const std::string &name : names)
      sums.emplace_back(name, 0.0);
    for (auto [i, term] : llvm::enumerate(terms))
      sums[i % names.size()].second += term;
    for (auto &[name, value] : sums)
      value /= samples;
    return sums;
  }
};
} // namespace

/// Gives every rank what all of them have evaluated: the batches of rank 0 come
/// first.
static Error gather(Communicator &ranks, BatchScores &batches,
                    std::optional<Confusion> &counts,
                    std::optional<Confusion> none) {
  StringRef own(reinterpret_cast<const char *>(batches.terms.data()),
                batches.terms.size() * sizeof(double));
  auto terms = gatherTexts(ranks, own);
  if (!terms)
    return terms.takeError();
  batches.terms.clear();
  for (const std::string &part : *terms)
    for (size_t at = 0; at < part.size(); at += sizeof(double))
      std::memcpy(&batches.terms.emplace_back(), part.data() + at,
                  sizeof(double));
  if (!counts)
    return Error::success();
  auto parts = gatherTexts(ranks, counts->bytes());
  if (!parts)
    return parts.takeError();
  counts = std::move(none);
  for (const std::string &part : *parts)
    counts->merge(part);
  return Error::success();
}

Expected<BatchPlan> evaluationPlan(const Model &model, const Dataset &data,
                                   int64_t batch) {
  BatchPlan plan{.samples = data.samples(),
                 .batch = std::min(batch, data.samples())};
  std::vector<int64_t> lengths = model.buckets();
  if (lengths.empty())
    return plan;
  auto buckets = LengthBuckets::of(
      data,
      {.lengths = std::move(lengths), .batch = plan.batch, .shuffle = false});
  if (!buckets)
    return buckets.takeError();
  plan.buckets = std::move(*buckets);
  return plan;
}

/// Returns the entry point for a batch. Of a bucket, it has the columns of the
/// `largest` one.
static Expected<Executable *> evaluationOf(Model &model, BatchSize size,
                                           const Dataset &data,
                                           const BatchPlan &plan,
                                           const ColumnBinding &largest,
                                           std::set<int64_t> &checked) {
  auto found = model.get(Goal::Evaluate, kEvaluateEntry, size);
  if (found && size.length && checked.insert(size.length).second)
    if (Error error = checkCut(data, largest, (*found)->entry(), size.length,
                               plan.buckets->samplesOf(size.length)))
      return std::move(error);
  return found;
}

Expected<NamedNumbers> scores(Model &model, const Dataset &data, int64_t batch,
                              std::optional<Confusion> *confusion) {
  Expected<BatchPlan> planned = evaluationPlan(model, data, batch);
  if (!planned)
    return planned.takeError();
  const BatchPlan &plan = *planned;
  BatchSize largest = plan.largest();
  for (BatchSize size : plan.sizes())
    if (size != largest)
      model.compileAhead(Goal::Evaluate, size);
  Expected<Executable *> whole =
      model.get(Goal::Evaluate, kEvaluateEntry, largest);
  if (!whole)
    return whole.takeError();
  std::optional<Confusion> counts = Confusion::of((*whole)->entry());
  std::optional<Confusion> none = counts;
  Expected<ColumnBinding> binding =
      data.bind((*whole)->entry(), largest.length);
  if (!binding)
    return binding.takeError();
  Communicator *ranks = model.ranks();
  int64_t rank = ranks ? ranks->rank() : 0, size = ranks ? ranks->size() : 1;
  int64_t steps = plan.stepsPerEpoch();
  int64_t first = steps * rank / size, last = steps * (rank + 1) / size;
  Prefetcher inputs(
      data, *binding,
      {.plan = plan, .shuffle = false, .firstStep = first, .lastStep = last});
  BatchScores batches((*whole)->entry());
  std::vector<int64_t> order =
      plan.order(/*seed=*/0, /*epoch=*/0, /*shuffle=*/false);
  std::set<int64_t> checked;
  // What was checked is the range of the largest bucket's inputs.
  auto ranges =
      plan.buckets ? Executable::Ranges::Check : Executable::Ranges::Known;
  for (int64_t step = first; step < last; ++step) {
    BatchSize size = plan.size(step, /*micro=*/0);
    auto executable = evaluationOf(model, size, data, plan, *binding, checked);
    if (!executable)
      return executable.takeError();
    const Entry &entry = (*executable)->entry();
    auto rowsOfBatch = inputs.take(entry);
    if (!rowsOfBatch)
      return rowsOfBatch.takeError();
    Expected<Executable::Results> results =
        (*executable)->run(*rowsOfBatch, ranges);
    if (!results)
      return results.takeError();
    batches.add(entry, *results, size.rows);
    if (counts)
      counts->add(*rowsOfBatch, *results,
                  ArrayRef(order).slice(plan.firstRow(step, 0), size.rows));
  }
  if (ranks)
    if (Error error = gather(*ranks, batches, counts, std::move(none)))
      return std::move(error);
  NamedNumbers means = batches.means(data.samples());
  bool isResult = llvm::any_of(
      means, [](const auto &score) { return score.first == kMacroF1Score; });
  if (counts && !isResult)
    means.emplace_back(kMacroF1Score.str(), counts->macroF1());
  if (confusion)
    *confusion = std::move(counts);
  return means;
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
  if (!options.buckets.empty()) {
    auto modules = modulesOfBuckets(options.module, options.buckets);
    if (!modules)
      return modules.takeError();
    modelOptions.module = modules->rbegin()->second;
    modelOptions.buckets = std::move(*modules);
  }
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
                                          StringRef entry, BatchSize batch) {
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
  int64_t streams = data->streams(),
          batch =
              options.batch.value_or(streams > 1 ? streams : kEvaluatedRows);
  Expected<BatchPlan> plan = evaluationPlan(model, *data, batch);
  if (!plan)
    return plan.takeError();
  auto executable =
      trained->load(options, Goal::Evaluate, kEvaluateEntry, plan->largest());
  if (!executable)
    return executable.takeError();
  return scores(model, *data, batch);
}

} // namespace mp
