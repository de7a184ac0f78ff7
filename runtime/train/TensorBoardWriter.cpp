//===- TensorBoardWriter.cpp - a run as TensorBoard shows it --------------===//
#include "runtime/train/TensorBoardWriter.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

Error TensorBoardWriter::begin() {
  if (!run.options.tensorBoard)
    return Error::success();
  auto made = EventFile::create(run.options.out, run.state.step + 1);
  if (!made)
    return made.takeError();
  file.emplace(std::move(*made));
  flushed = Clock::now();
  return Error::success();
}

void TensorBoardWriter::addEvaluation() {
  const Evaluation *last = evaluations.last();
  if (!last || last->step == evaluated)
    return;
  NamedNumbers scalars;
  for (const auto &[name, value] : last->scores)
    scalars.emplace_back("test/" + name, value);
  file->add(last->step, scalars);
  evaluated = last->step;
}

Error TensorBoardWriter::stepFinished(StepMetrics &metrics) {
  if (!file)
    return Error::success();
  NamedNumbers scalars = {
      {"train/loss", metrics.loss},
      {"train/loss_scale", metrics.scale},
      {"train/skipped", metrics.skipped},
      {"train/lr", metrics.lr},
      {"train/grad_norm", metrics.gradNorm},
      {"train/samples_per_second", metrics.samplesPerSecond}};
  for (const auto &[name, value] : metrics.others)
    scalars.emplace_back("train/" + name, value);
  file->add(metrics.step, scalars);
  addEvaluation();
  if (Clock::now() - flushed > std::chrono::seconds(1))
    flush();
  return Error::success();
}

void TensorBoardWriter::flush() {
  flushed = Clock::now();
  Error error = file->flush();
  if (!error)
    return;
  file.reset();
  progress.endLine();
  if (run.options.log)
    *run.options.log << "note: " << withoutControls(toString(std::move(error)))
                     << "; the run goes on without TensorBoard's events\n";
  else
    consumeError(std::move(error));
}

Error TensorBoardWriter::runEnded(const TrainOutcome &) {
  if (!file)
    return Error::success();
  addEvaluation();
  flush();
  return Error::success();
}

} // namespace mp
