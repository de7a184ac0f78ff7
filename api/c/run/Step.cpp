//===- Step.cpp - steps in C ----------------------------------------------===//
#include "api/c/Handles.h"
#include "api/c/Options.h"

using namespace llvm;
using namespace mantissa;
using namespace mantissa::c;

mantissa_step::mantissa_step(Step made)
    : step(std::move(made)), device(step.device()) {}

mantissa_status *
mantissa_step_load_programs(const char *const *paths, size_t count,
                            const mantissa_run_options *options,
                            mantissa_step **step) {
  if (step)
    *step = nullptr;
  return call({{"step", step}}, [&]() -> Error {
    std::vector<std::string> files;
    RunOptions taken;
    if (Error error = takeStrings("paths", paths, count, files))
      return error;
    if (Error error = takeOptions(options, taken))
      return error;
    return make(Step::fromPrograms(files, taken), step);
  });
}

void mantissa_step_destroy(mantissa_step *step) { delete step; }

/// Sets the step's memory for inputs, which it keeps, to the caller's tensors.
static Error takeInputs(mantissa_step &step, const mantissa_tensor *inputs,
                        size_t count) {
  if (count && !inputs)
    return argumentError("inputs is null, and {0} are to be there", count);
  if (count > kMostElements)
    return argumentError("inputs: {0} tensors are more than {1}", count,
                         kMostElements);
  step.inputs.clear();
  for (size_t i = 0; i < count; ++i) {
    auto input =
        takeTensor(inputs[i], [i] { return formatv("inputs[{0}]", i).str(); });
    if (!input)
      return input.takeError();
    step.inputs.push_back(*input);
  }
  return Error::success();
}

mantissa_status *mantissa_step_run(mantissa_step *step,
                                   const mantissa_tensor *inputs, size_t count,
                                   const mantissa_results **results) {
  if (results)
    *results = nullptr;
  return call(step, Effect::EndsResults, {}, [&]() -> Error {
    if (Error error = takeInputs(*step, inputs, count))
      return error;
    auto values = step->step.run(step->inputs);
    if (!values)
      return values.takeError();
    step->trained.values = *values;
    step->current = &step->trained;
    if (results)
      *results = step->current;
    return Error::success();
  });
}

mantissa_status *mantissa_step_find_non_finite(mantissa_step *step,
                                               const mantissa_tensor *inputs,
                                               size_t count, char **origin) {
  if (origin)
    *origin = nullptr;
  return call(step, Effect::EndsResults, {{"origin", origin}}, [&]() -> Error {
    if (Error error = takeInputs(*step, inputs, count))
      return error;
    auto found = step->step.findNonFinite(step->inputs);
    if (!found)
      return found.takeError();
    *origin = newString(*found);
    return Error::success();
  });
}

mantissa_status *mantissa_step_predict(mantissa_step *step,
                                       const mantissa_tensor *inputs,
                                       size_t count,
                                       const mantissa_results **results) {
  if (results)
    *results = nullptr;
  return call(step, Effect::EndsResults, {{"results", results}},
              [&]() -> Error {
                if (Error error = takeInputs(*step, inputs, count))
                  return error;
                auto values = step->step.predict(step->inputs);
                if (!values)
                  return values.takeError();
                static_cast<Results &>(step->predicted.values) = *values;
                *results = step->current = &step->predicted;
                return Error::success();
              });
}

mantissa_status *mantissa_step_inputs(mantissa_step *step,
                                      mantissa_infos **inputs) {
  if (inputs)
    *inputs = nullptr;
  return call(step, Effect::KeepsResults, {{"inputs", inputs}}, [&]() -> Error {
    *inputs = new mantissa_infos(step->step.inputs());
    return Error::success();
  });
}

mantissa_status *mantissa_step_predict_inputs(mantissa_step *step, int64_t rows,
                                              mantissa_infos **inputs) {
  if (inputs)
    *inputs = nullptr;
  // It may compile, and a new Program may move the memory of results.
  return call(step, Effect::EndsResults, {{"inputs", inputs}},
              [&] { return make(step->step.predictInputs(rows), inputs); });
}
