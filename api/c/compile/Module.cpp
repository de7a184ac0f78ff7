//===- Module.cpp - modules in C ------------------------------------------===//
#include "api/c/Handles.h"
#include "api/c/Options.h"

using namespace llvm;
using namespace mantissa;
using namespace mantissa::c;

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

mantissa_status *mantissa_module_parse(const char *text, const char *name,
                                       mantissa_module **module) {
  if (module)
    *module = nullptr;
  return call({{"text", text}, {"module", module}}, [&]() -> Error {
    return make(name ? Module::parse(text, name) : Module::parse(text), module);
  });
}

mantissa_status *mantissa_module_read(const char *path,
                                      mantissa_module **module) {
  if (module)
    *module = nullptr;
  return call({{"path", path}, {"module", module}},
              [&] { return make(Module::read(path), module); });
}

void mantissa_module_destroy(mantissa_module *module) { delete module; }

const char *mantissa_module_text(const mantissa_module *module) {
  return module ? module->module.text().c_str() : nullptr;
}
const char *mantissa_module_name(const mantissa_module *module) {
  return module ? module->module.name().c_str() : nullptr;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

mantissa_status *
mantissa_module_compile_step(const mantissa_module *module,
                             const mantissa_step_options *options,
                             mantissa_step **step) {
  if (step)
    *step = nullptr;
  return call({{"module", module}, {"step", step}}, [&]() -> Error {
    StepOptions taken;
    if (Error error = takeOptions(options, taken))
      return error;
    return make(module->module.compileStep(taken), step);
  });
}

/// Saves a Program by one of the two functions of Module that do.
static mantissa_status *
save(Error (Module::*function)(StringRef, const StepOptions &) const,
     const mantissa_module *module, const char *path,
     const mantissa_step_options *options) {
  return call({{"module", module}, {"path", path}}, [&]() -> Error {
    StepOptions taken;
    if (Error error = takeOptions(options, taken))
      return error;
    return (module->module.*function)(path, taken);
  });
}

mantissa_status *
mantissa_module_save_step(const mantissa_module *module, const char *path,
                          const mantissa_step_options *options) {
  return save(&Module::saveStep, module, path, options);
}
mantissa_status *
mantissa_module_save_prediction(const mantissa_module *module, const char *path,
                                const mantissa_step_options *options) {
  return save(&Module::savePrediction, module, path, options);
}

mantissa_status *mantissa_module_compile_generator(
    const mantissa_module *module, const char *weights, int32_t averaged,
    const mantissa_step_options *options, mantissa_generator **generator) {
  if (generator)
    *generator = nullptr;
  return call(
      {{"module", module}, {"weights", weights}, {"generator", generator}},
      [&]() -> Error {
        if (averaged != 0 && averaged != 1)
          return argumentError("averaged is {0}, expected 0 or 1", averaged);
        StepOptions taken;
        if (Error error = takeOptions(options, taken))
          return error;
        return make(module->module.compileGenerator(
                        weights, taken,
                        averaged ? Weights::Averaged : Weights::Trained),
                    generator);
      });
}

mantissa_status *mantissa_module_explain(const mantissa_module *module,
                                         const mantissa_step_options *options,
                                         char **json) {
  if (json)
    *json = nullptr;
  return call({{"module", module}, {"json", json}}, [&]() -> Error {
    StepOptions taken;
    if (Error error = takeOptions(options, taken))
      return error;
    auto casts = module->module.explain(taken);
    if (!casts)
      return casts.takeError();
    *json = newString(*casts);
    return Error::success();
  });
}
