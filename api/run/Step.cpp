//===- Step.cpp - a compiled step on the caller's tensors -----------------===//
#include "api/run/StepImpl.h"
#include "program/Limits.h"
#include "program/Names.h"
#include "runtime/train/StepDiagnosis.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include <cmath>

using namespace llvm;

namespace mantissa {

Step::Step(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Step::Step(Step &&) noexcept = default;
Step &Step::operator=(Step &&) noexcept = default;
Step::~Step() = default;

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

Expected<Step> Step::Impl::create(mp::ModelOptions options,
                                  mp::Compiler compiler, int64_t batch,
                                  uint64_t seed) {
  auto impl = std::make_unique<Impl>();
  impl->state.settings() = options.compile.settings();
  auto model = mp::Model::open(std::move(options), std::move(compiler),
                               mp::Session::create);
  if (!model)
    return model.takeError();
  impl->model = std::move(*model);
  impl->state.batch = batch;
  impl->state.seed = seed;
  if (Error error = impl->compile())
    return error;
  if (Error error = impl->model->session().initialize(seed))
    return error;
  return Step(std::move(impl));
}

Error Step::Impl::compile() {
  auto found = mp::findStep(*model, state.batch);
  if (!found)
    return found.takeError();
  program = *found;
  const mp::Entry &entry = program.takesInputs().entry();
  recipe = program.last->entry().recipe;
  inputs = BoundInputs(entry, program.microBatches);
  mp::Communicator *ranks = model->ranks();
  state.accumulate = program.microBatches * (ranks ? ranks->size() : 1);
  state.module = model->moduleName();
  state.graph = model->graph();
  state.target = model->session().target().str();
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

StepResults Step::Impl::describe(const mp::Results &results) {
  const mp::Entry &entry = program.last->entry();
  auto read = [&](std::optional<unsigned> index, double otherwise) {
    return index ? mp::readScalar(entry, results, *index) : otherwise;
  };
  StepResults described(results, entry);
  described.step = state.step;
  described.loss = read(program.loss, NAN);
  described.lossScale = read(program.scale, 1);
  described.skipped = read(program.skipped, 0) != 0;
  described.exhausted = read(program.exhausted, 0) != 0;
  described.learningRate = read(program.learningRate, NAN);
  described.gradientNorm = read(program.gradientNorm, NAN);
  return described;
}

Expected<StepResults> Step::run(NamedTensors tensors) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  if (Error error = impl->inputs.bind(tensors))
    return error;
  const mp::StepProgram &program = impl->program;
  constexpr auto known = mp::Executable::Ranges::Known;
  for (int64_t micro = 0; program.gather && micro < program.microBatches;
       ++micro)
    if (auto ticket = program.gather->submit(impl->inputs.part(micro), known);
        !ticket)
      return ticket.takeError();
  auto results = program.last->run(
      program.gather ? mp::Executable::Inputs() : impl->inputs.part(0), known);
  if (!results)
    return results.takeError();
  ++impl->state.step;
  StepResults described = impl->describe(*results);
  impl->state.lastScale = described.lossScale;
  impl->state.skippedSteps += described.skipped;
  impl->lastWasSkipped = described.skipped;
  return described;
}

Expected<std::string> Step::findNonFinite(NamedTensors tensors) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  if (Error error = impl->inputs.bind(tensors))
    return error;
  const mp::RunState &state = impl->state;
  bool gathers = impl->program.gather;
  std::optional<double> skippedScale;
  if (impl->lastWasSkipped)
    skippedScale = state.lastScale;
  mp::StepDiagnosis diagnosis(*impl->model, gathers, skippedScale);
  for (int64_t micro = 0; micro < impl->program.microBatches; ++micro)
    if (auto found = diagnosis.run(impl->inputs.part(micro), state.batch);
        !found)
      return found.takeError();
  if (gathers)
    if (auto found = diagnosis.apply(state.batch); !found)
      return found.takeError();
  return diagnosis.origin ? diagnosis.origin->str() : std::string();
}

Expected<BoundInputs *> Step::Impl::predictor(int64_t rows) {
  if (auto known = predictions.find(rows); known != predictions.end())
    return &known->second.inputs;
  if (rows > mp::kMostCount)
    return mp::makeError("a prediction takes at most {0} rows, not {1}",
                         mp::kMostCount, rows);
  if (rows < (state.batch ? 1 : 0))
    return mp::makeError("a prediction takes at least one row, not {0}", rows);
  auto executable = model->get(mp::Goal::Predict, mp::kPredictEntry, rows);
  if (!executable)
    return executable.takeError();
  auto &made =
      predictions[rows] = {*executable, BoundInputs((*executable)->entry())};
  return &made.inputs;
}

/// The number of rows that a call is for: those of its first tensor that has
/// any.
static int64_t rowsOf(NamedTensors tensors) {
  for (const NamedTensor &named : tensors)
    if (!named.tensor.shape().empty())
      return named.tensor.shape().front();
  return 0;
}

Expected<Results> Step::predict(NamedTensors tensors) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  int64_t rows = impl->state.batch ? rowsOf(tensors) : 0;
  if (impl->state.batch && !rows)
    return mp::makeError("nothing to predict: the tensors have no rows");
  auto inputs = impl->predictor(rows);
  if (!inputs)
    return inputs.takeError();
  if (Error error = (*inputs)->bind(tensors))
    return error;
  mp::Executable &executable = *impl->predictions.at(rows).executable;
  auto results =
      executable.run((*inputs)->part(0), mp::Executable::Ranges::Known);
  if (!results)
    return results.takeError();
  return Results(*results, executable.entry());
}

std::vector<TensorInfo> Step::inputs() const { return impl->inputs.describe(); }

Expected<std::vector<TensorInfo>> Step::predictInputs(int64_t rows) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take())
    return error;
  auto inputs = impl->predictor(rows ? rows : impl->state.batch);
  if (!inputs)
    return inputs.takeError();
  return (*inputs)->describe();
}

int64_t Step::steps() const { return impl->state.step; }
int64_t Step::skipped() const { return impl->state.skippedSteps; }
std::string Step::device() const { return impl->model->device(); }
uint64_t Step::plannedBytes() const {
  return impl->model->session().plannedBytes();
}

} // namespace mantissa
