//===- Module.cpp - modules and their steps -------------------------------===//
#include "api/run/GeneratorImpl.h"
#include "api/run/StepImpl.h"
#include "codegen/Compile.h"
#include "program/Limits.h"
#include "runtime/Memory.h"
#include "runtime/data/Convert.h"
#include "runtime/train/Checkpoint.h"
#include "support/Error.h"
#include "support/Number.h"
#include "support/OutputFile.h"

using namespace llvm;

namespace mantissa {

Expected<Module> Module::parse(StringRef text, StringRef name,
                               ArrayRef<std::string> plugins) {
  mp::CompileOptions options;
  options.plugins = plugins;
  options.filename = name.str();
  options.goal = mp::Goal::Inspect;
  if (auto facts = mp::compile(text, options); !facts)
    return facts.takeError();
  return Module(text.str(), name.str());
}

Expected<Module> Module::read(StringRef path, ArrayRef<std::string> plugins) {
  auto buffer = mp::readText(path);
  if (!buffer)
    return buffer.takeError();
  return parse((*buffer)->getBuffer(), path, plugins);
}

/// "static:128" for a scale that stays, else the preset's name.
static std::string scalerText(const StepOptions &options) {
  std::string text = toString(options.scaler).str();
  if (options.scaler == Scaler::Static)
    text += ":" + mp::shortestDecimal(options.staticScale);
  return text;
}

static mp::ModelOptions modelOptions(const Module &module,
                                     const StepOptions &options) {
  mp::ModelOptions model{.module = module.name(), .text = module.text()};
  model.device = options.device ? options.device->str() : "auto";
  model.threads = options.threads;
  model.onNote = options.onNote;
  model.ranks = options.ranks;
  mp::CompileOptions &compile = model.compile;
  compile.precision = toString(options.precision).str();
  compile.policy = options.policy;
  compile.scaler = scalerText(options);
  compile.accumulate = options.accumulate;
  compile.clipNorm = options.clipNorm;
  compile.clipValue = options.clipValue;
  compile.recompute = options.recompute;
  compile.lossChunks = options.lossChunks;
  compile.function = options.recipe;
  compile.totalSteps = options.totalSteps;
  compile.shardOptimizer = options.shardOptimizer;
  compile.outputs = options.outputs;
  compile.predictions = options.predictions;
  compile.steersLearningRate = true;
  compile.plugins = options.plugins;
  compile.insertPasses = options.insertPasses;
  compile.onWarning = options.onNote;
  return model;
}

static Error checkNumbers(const StepOptions &options) {
  struct Field {
    StringRef name;
    double value, most = INFINITY;
  };
  for (const Field &field : {
           Field{"batch", double(options.batch), mp::kMostCount},
           Field{"accumulate", double(options.accumulate), mp::kMostCount},
           Field{"clipNorm", options.clipNorm},
           Field{"clipValue", options.clipValue},
           Field{"totalSteps", double(options.totalSteps)},
       })
    if (!(field.value >= 0 && field.value <= field.most))
      return mp::makeError("StepOptions::{0} is {1}, expected a number from 0 "
                           "to {2}",
                           field.name, mp::shortestDecimal(field.value),
                           mp::shortestDecimal(field.most));
  return Error::success();
}

static Error checkOptions(const StepOptions &options) {
  // A number that was cast to an enumeration has no name.
  if (options.precision != Precision::Recipe &&
      toString(options.precision).empty())
    return mp::makeError("StepOptions::precision is {0}, which is no Precision",
                         int(options.precision));
  if (options.scaler != Scaler::Recipe && toString(options.scaler).empty())
    return mp::makeError("StepOptions::scaler is {0}, which is no Scaler",
                         int(options.scaler));
  return checkNumbers(options);
}

Expected<Step> Module::compileStep(const StepOptions &options) const {
  if (Error error = checkOptions(options))
    return error;
  return Step::Impl::create(modelOptions(*this, options), mp::compile,
                            options.batch, options.seed);
}

Expected<Generator> Module::compileGenerator(StringRef weights,
                                             const StepOptions &options,
                                             Weights which) const {
  if (Error error = checkOptions(options))
    return error;
  mp::EvalOptions eval;
  eval.module = file;
  eval.text = source;
  eval.checkpoint = weights.str();
  eval.precision = toString(options.precision).str();
  eval.policy = options.policy;
  eval.function = options.recipe;
  eval.device = options.device ? options.device->str() : "auto";
  eval.averaged = which == Weights::Averaged;
  eval.batch = std::max<int64_t>(1, options.batch);
  eval.threads = options.threads;
  eval.predictions = options.predictions;
  eval.plugins = options.plugins;
  eval.insertPasses = options.insertPasses;
  eval.onNote = options.onNote;
  auto model = mp::Generator::open(eval, /*input=*/"", mp::compile);
  if (!model)
    return model.takeError();
  return Generator(std::make_unique<Generator::Impl>(std::move(*model)));
}

/// The options of a compilation for the device that a step would run on.
static Expected<mp::CompileOptions> compileOptions(const Module &module,
                                                   const StepOptions &options) {
  if (Error error = checkOptions(options))
    return error;
  auto model = mp::Model::open(modelOptions(module, options), mp::compile,
                               mp::Session::create);
  if (!model)
    return model.takeError();
  mp::CompileOptions compile = (*model)->compileOptions();
  compile.batch = options.batch;
  return compile;
}

/// The settings that decide whether a checkpoint can be continued, as text.
static std::vector<std::pair<std::string, std::string>>
settingTexts(const mp::RecipeSettings &settings) {
  std::vector<std::pair<std::string, std::string>> texts;
  mp::forEachSetting([&]<typename T>(const mp::SettingInfo &setting,
                                     T mp::RecipeSettings::*field) {
    const T &value = settings.*field;
    if (setting.onResume == mp::OnResume::NotSaved || value == T())
      return;
    if constexpr (std::is_floating_point_v<T>)
      texts.emplace_back(setting.name.str(), mp::shortestDecimal(value));
    else
      texts.emplace_back(setting.name.str(), formatv("{0}", value).str());
  });
  return texts;
}

static Error saveProgram(const Module &module, StringRef path,
                         const StepOptions &options, mp::Goal goal) {
  auto compile = compileOptions(module, options);
  if (!compile)
    return compile.takeError();
  compile->goal = goal;
  auto program = mp::compile(module.text(), *compile);
  if (!program)
    return program.takeError();
  program->settings = settingTexts(compile->settings());
  std::string text;
  raw_string_ostream os(text);
  mp::print(*program, os);
  return mp::writeAtomically(
      path, [&](mp::OutputFile &file) { return file.write(text); });
}

Error Module::saveStep(StringRef path, const StepOptions &options) const {
  return saveProgram(*this, path, options, mp::Goal::Train);
}

Error Module::savePrediction(StringRef path, const StepOptions &options) const {
  return saveProgram(*this, path, options, mp::Goal::Predict);
}

Expected<std::string> Module::explain(const StepOptions &options) const {
  auto compile = compileOptions(*this, options);
  if (!compile)
    return compile.takeError();
  std::string casts;
  compile->onCasts = [&](StringRef json) { casts = json.str(); };
  if (auto program = mp::compile(source, *compile); !program)
    return program.takeError();
  return casts;
}

} // namespace mantissa
