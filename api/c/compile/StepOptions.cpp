//===- StepOptions.cpp - the options of a step as those of C++ ------------===//
#include "api/c/Enums.h"
#include "api/c/Options.h"
#include "api/c/Sized.h"

using namespace llvm;

namespace mantissa::c {

Error takeOptions(const mantissa_step_options *given, StepOptions &options) {
  mantissa_step_options taken = MANTISSA_STEP_OPTIONS_INIT;
  if (given)
    if (Error error = takeSized("options", *given, taken))
      return error;
  // As many names as the structures have fields: with another field on either
  // side, this does not compile.
  const auto &[structSize, batch, precision, scaler, staticScale, policy,
               accumulate, clipNorm, clipValue, recompute, recipe, totalSteps,
               outputs, outputCount, predictions, predictionCount, plugins,
               pluginCount, insertPasses, insertPassCount, device, deviceIndex,
               seed, threads, reserved, onNote, noteData, lossChunks] = taken;
  // Programs in C are one rank.
  auto &[toBatch, toPrecision, toPolicy, toScaler, toStaticScale, toAccumulate,
         toRanks, toShardOptimizer, toClipNorm, toClipValue, toRecompute,
         toLossChunks, toRecipe, toTotalSteps, toOutputs, toPredictions,
         toPlugins, toInsertPasses, toDevice, toThreads, toSeed, toNote] =
      options;
  // What can be wrong comes first.
  auto knownPrecision = takePrecision("options->precision", precision);
  if (!knownPrecision)
    return knownPrecision.takeError();
  auto knownScaler = takeScaler("options->scaler", scaler);
  if (!knownScaler)
    return knownScaler.takeError();
  auto knownDevice = takeDevice(device, deviceIndex);
  if (!knownDevice)
    return knownDevice.takeError();
  if (reserved)
    return argumentError("options->reserved is {0}, expected 0", reserved);
  struct {
    const char *name;
    const char *const *strings;
    size_t count;
    std::vector<std::string> &to;
  } lists[] = {
      {"options->outputs", outputs, outputCount, toOutputs},
      {"options->predictions", predictions, predictionCount, toPredictions},
      {"options->plugins", plugins, pluginCount, toPlugins},
      {"options->insert_passes", insertPasses, insertPassCount,
       toInsertPasses}};
  for (auto &[name, strings, count, to] : lists)
    if (Error error = takeStrings(name, strings, count, to))
      return error;
  toBatch = batch;
  toPrecision = *knownPrecision;
  toPolicy = textOf(policy);
  toScaler = *knownScaler;
  toStaticScale = staticScale;
  toAccumulate = accumulate;
  toRanks = nullptr;
  toShardOptimizer = false;
  toClipNorm = clipNorm;
  toClipValue = clipValue;
  toRecompute = textOf(recompute);
  toLossChunks = textOf(lossChunks);
  toRecipe = textOf(recipe);
  toTotalSteps = totalSteps;
  toDevice = *knownDevice;
  toThreads = threads;
  toSeed = seed;
  toNote = takeNotes(onNote, noteData);
  return Error::success();
}

} // namespace mantissa::c
