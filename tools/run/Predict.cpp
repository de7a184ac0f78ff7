//===- Predict.cpp - mp-run predict ---------------------------------------===//
#include "runtime/train/Predict.h"
#include "program/Limits.h"
#include "runtime/data/Array.h"
#include "support/Error.h"
#include "tools/run/Commands.h"
#include "tools/run/RunModule.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace mp::tool {
namespace {

struct PredictOptions {
  EvalOptions model;
  CommonOptions common;
  std::string output, classes;
  uint64_t top = 3;
};

Command describe(PredictOptions &options) {
  Command command{
      "predict", "RUN PICTURE... [options]",
      "Prints the classes that the network of a run sees in PNG and JPEG "
      "files, with their\nprobabilities, the most probable first."};
  command.positional = 2;
  command.optional = kMostCount;
  command.options = {
      text("module", "FILE", options.model.module,
           "the module (that of the run)", Names::Input),
      text("output", "NAME", options.output,
           "the logits: a result of the recipe's function, or value:%NAME (its "
           "only result that is not a single number)"),
      text(
          "classes", "FILE", options.classes,
          "names of the classes, one a line (those of the folders that the run "
          "was trained on, or numbers)",
          Names::Input),
      number(
          "batch", [&](uint64_t n) { options.model.batch = n; }, 1, kMostCount,
          "pictures at a time (256)"),
      number(
          "top", [&](uint64_t n) { options.top = n; }, 1, kMostCount,
          "classes of each picture that are printed (3)"),
      flag("ema", options.model.averaged, true,
           "predict with the moving averages of weights that the recipe's ema "
           "keeps"),
      text("function", "NAME", options.model.function,
           "which recipe (the only one)"),
  };
  llvm::append_range(command.options, options.common.table());
  return command;
}

Expected<std::vector<std::string>> namesIn(const std::string &path) {
  std::vector<std::string> names;
  if (path.empty())
    return names;
  auto text = readFile(path);
  if (!text)
    return text.takeError();
  SmallVector<StringRef> lines;
  (*text)->getBuffer().rtrim("\r\n").split(lines, '\n');
  for (StringRef line : lines)
    names.push_back(line.rtrim('\r').str());
  return names;
}

Error execute(PredictOptions &options, ArrayRef<std::string> arguments) {
  EvalOptions &model = options.model;
  model.checkpoint = arguments.front();
  if (model.module.empty()) {
    auto module = moduleOf(arguments.front());
    if (!module)
      return module.takeError();
    model.module = std::move(*module);
  }
  auto names = namesIn(options.classes);
  if (!names)
    return names.takeError();
  if (!options.output.empty())
    model.predictions = {options.output};
  takeCommon(model, options.common);
  auto predictions =
      predictPictures(model, arguments.drop_front(), std::move(*names),
                      options.top, options.common.compiler());
  if (!predictions)
    return predictions.takeError();
  for (const PicturePrediction &prediction : *predictions) {
    outs() << withoutControls(prediction.path) << ":";
    ListSeparator comma(",");
    for (const auto &[name, probability] : prediction.classes)
      outs() << StringRef(comma) << " " << withoutControls(name)
             << format(" %.4f", probability);
    outs() << "\n";
  }
  return Error::success();
}

} // namespace

int predict(ArrayRef<const char *> arguments) {
  PredictOptions options;
  auto others = describe(options).parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  if (Error error = execute(options, **others))
    return report(std::move(error));
  return 0;
}

} // namespace mp::tool
