//===- Results.cpp - the results of a run in C ----------------------------===//
#include "api/c/Enums.h"
#include "api/c/Handles.h"
#include "api/c/Sized.h"

using namespace llvm;
using namespace mantissa;
using namespace mantissa::c;

/// Runs the body of a function on results that are still there.
static mantissa_status *onResults(const mantissa_results *results,
                                  std::initializer_list<Needed> needed,
                                  function_ref<Error()> body) {
  if (!results)
    return statusOf(argumentError("results is null"));
  return call(results->step, Effect::KeepsResults, needed, [&]() -> Error {
    if (results->step->current != results)
      return argumentError("the results are gone: the step has been used since "
                           "they were made");
    return body();
  });
}

/// A view of C of a result.
static void give(const char *name, const TensorRef &found,
                 mantissa_tensor *tensor) {
  *tensor = {};
  tensor->name = name;
  tensor->element = int32_t(found.element());
  tensor->rank = found.shape().size();
  copy(found.shape(), tensor->shape);
  tensor->data = found.data();
}

mantissa_status *mantissa_results_count(const mantissa_results *results,
                                        size_t *count) {
  return onResults(results, {{"count", count}}, [&]() -> Error {
    *count = results->values.size();
    return Error::success();
  });
}

mantissa_status *mantissa_results_get(const mantissa_results *results,
                                      size_t index, mantissa_tensor *tensor) {
  return onResults(results, {{"tensor", tensor}}, [&]() -> Error {
    const StepResults &values = results->values;
    if (index >= values.size())
      return argumentError("there is no result {0}: there are {1}", index,
                           values.size());
    // Names are strings of the entry point: a zero follows.
    give(values.name(index).data(), values[index], tensor);
    return Error::success();
  });
}

mantissa_status *mantissa_results_find(const mantissa_results *results,
                                       const char *name,
                                       mantissa_tensor *tensor) {
  return onResults(results, {{"name", name}, {"tensor", tensor}},
                   [&]() -> Error {
                     const StepResults &values = results->values;
                     auto found = values.find(name);
                     if (!found)
                       return found.takeError();
                     for (size_t i = 0; i < values.size(); ++i)
                       if (values.name(i) == name)
                         give(values.name(i).data(), *found, tensor);
                     return Error::success();
                   });
}

mantissa_status *mantissa_results_read(const mantissa_results *results,
                                       const char *name,
                                       mantissa_element element,
                                       const void **data, size_t *count) {
  return onResults(results, {{"name", name}, {"data", data}, {"count", count}},
                   [&]() -> Error {
                     auto wanted = takeElement("element", element);
                     if (!wanted)
                       return wanted.takeError();
                     auto found = results->values.find(name);
                     if (!found)
                       return found.takeError();
                     if (found->element() != *wanted)
                       return codedError(
                           MANTISSA_FAILED,
                           formatv("'{0}' is {1}, and was asked for as {2}",
                                   name, found->type(),
                                   mp::elementTypeName(*wanted)));
                     *data = found->data();
                     *count = found->size();
                     return Error::success();
                   });
}

mantissa_status *mantissa_results_floats(const mantissa_results *results,
                                         const char *name, float *floats,
                                         size_t count) {
  return onResults(
      results, {{"name", name}, {"floats", floats}}, [&]() -> Error {
        auto found = results->values.find(name);
        if (!found)
          return found.takeError();
        if (size_t(found->size()) != count)
          return codedError(MANTISSA_FAILED,
                            formatv("'{0}' is {1}, and there is memory for {2} "
                                    "elements",
                                    name, found->type(), count));
        copy(found->floats(), floats);
        return Error::success();
      });
}

mantissa_status *mantissa_results_number(const mantissa_results *results,
                                         const char *name, double *number) {
  return onResults(results, {{"name", name}, {"number", number}},
                   [&]() -> Error {
                     auto found = results->values.number(name);
                     if (!found)
                       return found.takeError();
                     *number = *found;
                     return Error::success();
                   });
}

mantissa_status *mantissa_results_get_facts(const mantissa_results *results,
                                            mantissa_step_facts *facts) {
  return onResults(results, {{"facts", facts}}, [&]() -> Error {
    if (!results->isTraining)
      return argumentError("these are the results of a prediction, which has "
                           "no numbers of a step");
    const StepResults &values = results->values;
    mantissa_step_facts made = MANTISSA_STEP_FACTS_INIT;
    made.step = values.step;
    made.loss = values.loss;
    made.loss_scale = values.lossScale;
    made.learning_rate = values.learningRate;
    made.gradient_norm = values.gradientNorm;
    made.skipped = values.skipped;
    made.exhausted = values.exhausted;
    return giveSized("facts", made, facts);
  });
}
