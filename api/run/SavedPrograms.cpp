//===- SavedPrograms.cpp - steps without the compiler ---------------------===//
#include "api/run/StepImpl.h"
#include "program/Names.h"
#include "program/ProgramText.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"

using namespace llvm;

namespace mantissa {

namespace {
/// Answers for the compiler with Programs that were saved.
struct SavedPrograms {
  std::vector<mp::Program> programs;

  /// Returns the step, or the entry point that takes its micro-batches.
  const mp::Entry *step() const {
    for (const mp::Program &program : programs)
      for (const mp::Entry &entry : program.entries)
        if (entry.function == mp::kStepEntry ||
            entry.function == mp::kAccumulateEntry)
          return &entry;
    return nullptr;
  }

  Expected<mp::Program> find(mp::Goal goal, int64_t batch) const {
    if (goal == mp::Goal::Diagnose)
      return mp::makeError("a saved Program has no records of its ops: compile "
                           "its module to find where values stop being finite");
    std::vector<std::string> batches;
    for (const mp::Program &program : programs)
      for (const mp::Entry &entry : program.entries) {
        bool isPrediction = entry.function == mp::kPredictEntry;
        if (entry.function == mp::kDeriveEntry ||
            entry.function == mp::kApplyEntry)
          continue;
        if (goal == mp::Goal::Inspect)
          return inspect(program);
        if (isPrediction != (goal == mp::Goal::Predict))
          continue;
        if (entry.batch == batch)
          return program;
        batches.push_back(std::to_string(entry.batch));
      }
    StringRef what = goal == mp::Goal::Predict ? "prediction" : "step";
    if (batches.empty())
      return mp::makeError("no saved Program holds a {0}", what);
    return mp::makeError("no saved Program holds a {0} of {1} rows, but of {2}",
                         what, batch, join(batches, ", "));
  }

  static mp::Program inspect(const mp::Program &program) {
    mp::Program facts = program;
    facts.entries.clear();
    facts.kernels.clear();
    return facts;
  }
};
} // namespace

static Expected<mp::Program> readProgram(StringRef path) {
  auto buffer = mp::mapFile(path);
  if (!buffer)
    return buffer.takeError();
  auto program = mp::parseProgram((*buffer)->getBuffer());
  if (!program)
    return mp::makeError("{0}: {1}", path, toString(program.takeError()));
  return program;
}

Expected<Step> Step::fromPrograms(ArrayRef<std::string> paths,
                                  const RunOptions &options) {
  auto saved = std::make_shared<SavedPrograms>();
  for (const std::string &path : paths) {
    auto program = readProgram(path);
    if (!program)
      return program.takeError();
    saved->programs.push_back(std::move(*program));
  }
  const mp::Entry *step = saved->step();
  if (!step)
    return mp::makeError("{0}: holds no step to run: it was made for something "
                         "else than training",
                         paths.empty() ? "no file" : paths.front());
  mp::ModelOptions model{.module = paths.front(), .text = std::string()};
  model.device = options.device ? options.device->str() : "auto";
  model.threads = options.threads;
  model.onNote = options.onNote;
  auto compiler = [saved](StringRef, const mp::CompileOptions &asked,
                          mp::KernelSink *) {
    return saved->find(asked.goal, asked.batch);
  };
  return Impl::create(std::move(model), compiler, step->batch, options.seed);
}

} // namespace mantissa
