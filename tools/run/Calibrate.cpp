//===- Calibrate.cpp - mp-run calibrate -----------------------------------===//
#include "program/Limits.h"
#include "runtime/data/Safetensors.h"
#include "runtime/numerics/Calibration.h"
#include "runtime/train/Checkpoint.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "tools/run/Batch.h"
#include "tools/run/Commands.h"
#include <cmath>

using namespace llvm;

namespace mp::tool {
namespace {

struct CalibrationOptions {
  std::string module, data, init, json, tensors, picture, function;
  uint64_t batch = 0, batches = kCalibrationBatches, seed = 0;
  int headroom = kHeadroom;
  std::optional<double> scale;
  std::optional<bool> shuffle;
  CommonOptions common;
};

Command describe(CalibrationOptions &options) {
  Command command{
      "calibrate", "FILE --data DIR [options]",
      "Shows how large the gradients are that training FILE's recipe has in "
      "f16, what f16 makes\nof them, and the loss scale that suits them. They "
      "are computed in f32, unscaled."};
  command.positional = 1;
  command.options = {
      text("data", "DIR", options.data,
           "folder with the files of FILE's mp.data", Names::Input),
      text("json", "FILE", options.json,
           "write all of it, for --scales of 'mp-run train'", Names::Output),
      positive("scale", options.scale,
               "loss scale to look at (--init's, where a run's; else 1)"),
      text("tensors", "FILE", options.tensors,
           "write the gradients of the first batch, as safetensors",
           Names::Output),
      text("picture", "FILE", options.picture,
           "draw the histogram, without the advised scale and with it, as SVG",
           Names::Output),
      number(
          "batches", [&](uint64_t n) { options.batches = n; }, 1, kMostCount,
          "how many of the run's first batches to take (16)"),
      number(
          "headroom", [&](uint64_t n) { options.headroom = n; }, 0, 15,
          "factors of two by which gradients may grow later (6)"),
      number(
          "batch", [&](uint64_t n) { options.batch = n; }, 1, kMostCount,
          "samples a step, or a micro-batch (32, or as many as there are "
          "streams)"),
      number(
          "seed", [&](uint64_t n) { options.seed = n; }, 0, UINT64_MAX,
          "of first weights, order and random ops (0)"),
      text("init", "FILE", options.init,
           "weights: a safetensors file, a checkpoint or a run folder",
           Names::InputRun),
      flag("no-shuffle", options.shuffle, false, "take the samples in order"),
      text("function", "NAME", options.function, "which recipe (the only one)"),
  };
  append_range(command.options, options.common.table());
  return command;
}

/// Chooses the loss scale of the ledger, which must be an f32.
Expected<double> chooseScale(const CalibrationOptions &options) {
  if (options.scale) {
    double scale = static_cast<float>(*options.scale);
    if (std::isnormal(static_cast<float>(scale)))
      return scale;
    return make_error<UsageError>(
        "--scale takes a number that a loss scale can be");
  }
  if (options.init.empty())
    return 1;
  Expected<Checkpoint> checkpoint = Checkpoint::open(options.init);
  if (checkpoint)
    return checkpoint->scale();
  // Weights alone have no scale; a file that is not weights fails later.
  consumeError(checkpoint.takeError());
  return 1;
}

Error writeTensors(const CalibrationOptions &options,
                   const Calibration &found) {
  std::vector<NamedTensor> tensors;
  for (auto [gradient, array] :
       zip_equal(found.ledger.gradients, found.firstBatch))
    tensors.push_back({gradient.name, array.type, array.bytes});
  return writeSafetensors(options.tensors, std::move(tensors), {});
}

Error writeText(StringRef path, const std::string &text) {
  return writeAtomically(path,
                         [&](OutputFile &file) { return file.write(text); });
}

Error writeFiles(const CalibrationOptions &options, const Calibration &found) {
  if (!options.json.empty())
    if (Error error = writeText(options.json, toJson(found, options.json)))
      return error;
  if (!options.tensors.empty())
    if (Error error = writeTensors(options, found))
      return error;
  if (options.picture.empty())
    return Error::success();
  return writeText(options.picture, toPicture(found));
}

Error execute(const CalibrationOptions &options) {
  if (options.data.empty())
    return make_error<UsageError>("--data DIR is missing");
  auto scale = chooseScale(options);
  if (!scale)
    return scale.takeError();
  ModelOptions modelOptions{.module = options.module,
                            .device = options.common.device,
                            .threads = options.common.threads,
                            .onednn = options.common.onednn,
                            .plan = options.common.plan,
                            .onNote = note};
  modelOptions.compile.function = options.function;
  modelOptions.compile.precision = options.common.recipe.precision;
  modelOptions.compile.policy = options.common.recipe.policy;
  auto model = Model::open(std::move(modelOptions), options.common.compiler(),
                           Session::create);
  if (!model)
    return model.takeError();
  auto source = (*model)->dataSource("train", /*required=*/true);
  if (!source)
    return source.takeError();
  auto data = Dataset::open(**source, options.data);
  if (!data)
    return data.takeError();
  bool goOn = data->streams() > 1;
  CalibrateOptions calibration{.seed = options.seed,
                               .shuffle = options.shuffle.value_or(!goOn),
                               .batches = static_cast<int64_t>(options.batches),
                               .headroom = options.headroom,
                               .init = options.init,
                               .scale = *scale,
                               .keepsFirstBatch = !options.tensors.empty()};
  calibration.plan.samples = data->samples();
  calibration.plan.batch = batchOf(options.batch, *source);
  if (calibration.plan.samples < calibration.plan.batch)
    return makeError("batch {0} is larger than the data set of {1} samples",
                     calibration.plan.batch, data->samples());
  auto found = calibrate(**model, *data, calibration);
  if (!found)
    return makeError("{0}: {1}", options.module, toString(found.takeError()));
  outs() << withoutControls(toText(*found));
  return writeFiles(options, *found);
}

} // namespace

int calibrate(ArrayRef<const char *> arguments) {
  return runOnModule(arguments, describe, execute);
}

} // namespace mp::tool
