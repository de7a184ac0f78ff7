//===- SavedPrograms.cpp - steps without the compiler ---------------------===//
#include "api/run/StepImpl.h"
#include "program/Names.h"
#include "program/ProgramText.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mantissa {

namespace {
/// Answers for the compiler with Programs that were saved.
struct SavedPrograms {
  std::vector<mp::Program> programs;

  struct Found {
    const mp::Program *program = nullptr;
    const mp::Entry *entry = nullptr;
  };
  /// Returns the step, or the entry point that takes its micro-batches.
  Found step() const {
    for (const mp::Program &program : programs)
      for (const mp::Entry &entry : program.entries)
        if (entry.function == mp::kStepEntry ||
            entry.function == mp::kAccumulateEntry)
          return {&program, &entry};
    return {};
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
  auto buffer = mp::readFile(path);
  if (!buffer)
    return buffer.takeError();
  auto program = mp::parseProgram((*buffer)->getBuffer());
  if (!program)
    return mp::makeError("{0}: {1}", path, toString(program.takeError()));
  return program;
}

/// Takes the settings that a Program was compiled with; one that this version
/// does not know, or cannot read, keeps its default.
static void takeSettings(const mp::Program &program,
                         mp::RecipeSettings &settings) {
  mp::forEachSetting([&]<typename T>(const mp::SettingInfo &setting,
                                     T mp::RecipeSettings::*field) {
    for (const auto &[name, text] : program.settings) {
      if (setting.name != name)
        continue;
      if constexpr (std::is_same_v<T, std::string>)
        settings.*field = text;
      else if constexpr (std::is_floating_point_v<T>)
        to_float(text, settings.*field);
      else
        to_integer(text, settings.*field);
    }
  });
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
  auto step = saved->step();
  if (!step.entry)
    return mp::makeError("{0}: holds no step to run: it was made for something "
                         "else than training",
                         paths.empty() ? "no file" : paths.front());
  mp::ModelOptions model{.module = paths.front(), .text = std::string()};
  model.device = options.device ? options.device->str() : "auto";
  model.threads = options.threads;
  model.onNote = options.onNote;
  takeSettings(*step.program, model.compile.settings());
  auto compiler = [saved](StringRef, const mp::CompileOptions &asked,
                          mp::KernelSink *) {
    return saved->find(asked.goal, asked.batch);
  };
  return Impl::create(std::move(model), compiler, step.entry->batch,
                      options.seed);
}

} // namespace mantissa
