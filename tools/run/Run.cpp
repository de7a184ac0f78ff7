//===- Run.cpp - mp-run run -----------------------------------------------===//
#include "runtime/Model.h"
#include "runtime/data/Npy.h"
#include "runtime/train/CheckpointWeights.h"
#include "support/Error.h"
#include "tools/run/Commands.h"
#include "tools/run/Tensors.h"

using namespace llvm;

namespace mp::tool {
namespace {

struct RunOptions {
  std::string module, function, init;
  std::vector<std::string> inputs, outputs;
  uint64_t seed = 0;
  std::string mode = "eval";
  CommonOptions common;
};

Command describe(RunOptions &options) {
  Command command{
      "run", "FILE [--input=@x.npy ...] [--output=@y.npy ...] [options]",
      "Runs a function of FILE once, to predict: without dropout, batch norm "
      "by "
      "its running statistics.\nInputs and outputs are in the order of its "
      "arguments and results; the leading size of the\nfirst input binds '?'. "
      "Results have the types that the function declares, and are printed\n"
      "where there is no file for them."};
  command.positional = 1;
  command.options = {
      text("function", "NAME", options.function,
           "which function (the only one)"),
      list("input", "@FILE|NUMBER", options.inputs,
           "an npy, idx or safetensors file, or a number for a scalar",
           Names::Input),
      list("output", "@FILE", options.outputs,
           "npy file for a result (bf16 is widened to f32)", Names::Output),
      choice("mode", options.mode, {"eval", "train"},
             "eval: predict (default); train: with dropout, and batch norm by "
             "the batch"),
      text("init", "FILE", options.init, "weights, a safetensors file",
           Names::Input),
      number(
          "seed", [&](uint64_t n) { options.seed = n; }, 0, UINT64_MAX,
          "of first weights and random ops (0)"),
  };
  llvm::append_range(command.options, options.common.table());
  return command;
}

/// Reads the inputs that are files; a number keeps its place without an array.
Expected<std::vector<std::optional<Array>>>
readFiles(ArrayRef<std::string> inputs) {
  std::vector<std::optional<Array>> arrays;
  for (StringRef input : inputs) {
    arrays.emplace_back();
    if (!input.consume_front("@"))
      continue;
    Expected<Array> array = readArray(input, formatOf(input));
    if (!array)
      return array.takeError();
    if (array->type.elements() == 0)
      return makeError("{0}: holds {1}, which is not an element at all", input,
                       array->type.str());
    arrays.back() = std::move(*array);
  }
  return arrays;
}

/// Returns the batch of the first input with a leading size.
int64_t batchOf(ArrayRef<std::optional<Array>> arrays) {
  for (const std::optional<Array> &array : arrays)
    if (array && !array->type.shape.empty())
      return array->type.shape.front();
  return 0;
}

Error writeResults(const Entry &entry, Executable::Results results,
                   ArrayRef<std::string> outputs) {
  for (auto [i, result] : llvm::enumerate(entry.results)) {
    ArrayRef<char> bytes = results[i].bytes();
    if (i >= outputs.size()) {
      printTensor(outs(), withoutControls(result.name), result.type, bytes);
      continue;
    }
    if (Error error =
            writeNpy(StringRef(outputs[i]).drop_front(), result.type, bytes))
      return error;
  }
  return Error::success();
}

Error execute(const RunOptions &options) {
  for (StringRef output : options.outputs)
    if (!output.starts_with("@") || output.size() < 2)
      return make_error<UsageError>("--output takes @FILE, not '" +
                                    output.str() + "'");
  auto arrays = readFiles(options.inputs);
  if (!arrays)
    return arrays.takeError();
  ModelOptions modelOptions{.module = options.module,
                            .device = options.common.device,
                            .threads = options.common.threads,
                            .onednn = options.common.onednn,
                            .plan = options.common.plan,
                            .onNote = note};
  modelOptions.compile.function = options.function;
  modelOptions.compile.mode =
      options.mode == "train" ? Mode::Train : Mode::Evaluate;
  modelOptions.compile.precision = options.common.recipe.precision;
  modelOptions.compile.policy = options.common.recipe.policy;
  auto model = Model::open(std::move(modelOptions), options.common.compiler(),
                           Session::create);
  if (!model)
    return model.takeError();
  auto executable =
      (*model)->get(Goal::Run, options.function, batchOf(*arrays));
  if (!executable)
    return executable.takeError();
  const Entry &entry = (*executable)->entry();
  auto inputs = bindInputs(entry, options.inputs, *arrays);
  if (!inputs)
    return inputs.takeError();
  if (options.outputs.size() > entry.results.size())
    return make_error<UsageError>(
        formatv("{0} outputs given, function '{1}' has {2} results",
                options.outputs.size(), entry.function, entry.results.size()));
  if (Error error = (*model)->session().initialize(options.seed))
    return error;
  if (!options.init.empty())
    if (Error error = loadWeights(options.init, (*model)->session()))
      return error;
  std::vector<TensorView> views;
  for (const Array &input : *inputs)
    views.emplace_back(input.type.element, input.bytes);
  Expected<Executable::Results> results = (*executable)->run(views);
  for (const Array &input : *inputs)
    if (Error changed = input.check()) {
      if (!results)
        consumeError(results.takeError());
      return changed;
    }
  if (!results)
    return results.takeError();
  return writeResults(entry, *results, options.outputs);
}

} // namespace

int run(ArrayRef<const char *> arguments) {
  return runOnModule(arguments, describe, execute);
}

} // namespace mp::tool
