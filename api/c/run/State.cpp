//===- State.cpp - the variables of a step in C ---------------------------===//
#include "api/c/Enums.h"
#include "api/c/Handles.h"
#include "api/c/Sized.h"

using namespace llvm;
using namespace mantissa;
using namespace mantissa::c;

//===----------------------------------------------------------------------===//
// Learning rates
//===----------------------------------------------------------------------===//

mantissa_status *mantissa_step_set_learning_rate(mantissa_step *step,
                                                 double rate) {
  return call(step, Effect::KeepsResults, {},
              [&] { return step->step.setLearningRate(rate); });
}
mantissa_status *mantissa_step_scale_learning_rate(mantissa_step *step,
                                                   double factor) {
  return call(step, Effect::KeepsResults, {},
              [&] { return step->step.scaleLearningRate(factor); });
}
mantissa_status *mantissa_step_reset_learning_rate(mantissa_step *step) {
  return call(step, Effect::KeepsResults, {},
              [&] { return step->step.resetLearningRate(); });
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

mantissa_status *mantissa_step_variables(mantissa_step *step,
                                         mantissa_infos **infos) {
  if (infos)
    *infos = nullptr;
  return call(step, Effect::KeepsResults, {{"infos", infos}}, [&]() -> Error {
    *infos = new mantissa_infos(step->step.variables());
    return Error::success();
  });
}

mantissa_status *mantissa_step_type_of(mantissa_step *step,
                                       const char *variable,
                                       mantissa_type *type) {
  return call(step, Effect::KeepsResults,
              {{"variable", variable}, {"type", type}}, [&]() -> Error {
                auto found = step->step.typeOf(variable);
                if (!found)
                  return found.takeError();
                *type = c::typeOf(*found);
                return Error::success();
              });
}

mantissa_status *mantissa_step_read(mantissa_step *step, const char *variable,
                                    mantissa_element element, void *data,
                                    uint64_t bytes) {
  return call(step, Effect::KeepsResults,
              {{"variable", variable}, {"data", data}}, [&]() -> Error {
                auto wanted = takeElement("element", element);
                if (!wanted)
                  return wanted.takeError();
                return step->step.readInto(variable, *wanted, data, bytes);
              });
}

mantissa_status *mantissa_step_write(mantissa_step *step,
                                     const mantissa_tensor *tensor) {
  return call(step, Effect::EndsResults, {{"tensor", tensor}}, [&]() -> Error {
    auto taken = takeTensor(*tensor, [] { return std::string("tensor"); });
    if (!taken)
      return taken.takeError();
    return step->step.write(taken->name, taken->tensor);
  });
}

mantissa_status *mantissa_step_initialize(mantissa_step *step, uint64_t seed) {
  return call(step, Effect::EndsResults, {},
              [&] { return step->step.initialize(seed); });
}

//===----------------------------------------------------------------------===//
// Files and counters
//===----------------------------------------------------------------------===//

mantissa_status *mantissa_step_save(mantissa_step *step, const char *path) {
  return call(step, Effect::KeepsResults, {{"path", path}},
              [&] { return step->step.save(path); });
}
mantissa_status *mantissa_step_load(mantissa_step *step, const char *path) {
  return call(step, Effect::EndsResults, {{"path", path}},
              [&] { return step->step.load(path); });
}
mantissa_status *mantissa_step_load_weights(mantissa_step *step,
                                            const char *path) {
  return call(step, Effect::EndsResults, {{"path", path}},
              [&] { return step->step.loadWeights(path); });
}

mantissa_status *mantissa_step_get_counters(mantissa_step *step,
                                            mantissa_step_counters *counters) {
  return call(step, Effect::KeepsResults, {{"counters", counters}},
              [&]() -> Error {
                mantissa_step_counters made = MANTISSA_STEP_COUNTERS_INIT;
                made.steps = step->step.steps();
                made.skipped = step->step.skipped();
                made.planned_bytes = step->step.plannedBytes();
                made.device = step->device.c_str();
                return giveSized("counters", made, counters);
              });
}
