//===- Options.cpp - StepOptions for Python -------------------------------===//
#include "api/python/Bindings.h"
#include "mantissa-exceptions.h"
#include "support/Error.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace llvm;

namespace mantissa::python {

/// "static:128" sets a scale, which stays.
static void setScaler(Options &options, const std::string &text) {
  auto [name, scale] = StringRef(text).split(':');
  Scaler scaler = check(parseScaler(name));
  double number = 1;
  if (name != text)
    if (scaler != Scaler::Static || scale.getAsDouble(number))
      throw Error(mp::makeError("unknown loss scaler '{0}', expected a name, "
                                "or a scale as in static:128",
                                text));
  options.scaler = scaler;
  options.staticScale = number;
}

static void setDevice(Options &options, const std::string &name) {
  check(mp::checkDeviceName(name));
  options.device = Device{};
  StringRef kind = name;
  if (kind == "auto")
    options.device = std::nullopt;
  if (!kind.consume_front("cuda"))
    return;
  options.device->kind = Device::Kind::Cuda;
  kind.consume_front(":");
  kind.getAsInteger(10, options.device->index); // "cuda" is the first
}

void bindOptions(nb::module_ &core) {
  using O = Options;
  nb::class_<O>(core, "Options")
      .def(nb::init<>())
      .def_rw("batch", &O::batch)
      .def_prop_rw(
          "precision", [](O &o) { return toString(o.precision).str(); },
          [](O &o, const std::string &name) {
            o.precision = check(parsePrecision(name));
          })
      .def_rw("policy", &O::policy)
      .def_prop_rw(
          "scaler", [](O &o) { return toString(o.scaler).str(); }, setScaler)
      .def_rw("accumulate", &O::accumulate)
      .def_rw("clip_norm", &O::clipNorm)
      .def_rw("clip_value", &O::clipValue)
      .def_rw("recompute", &O::recompute)
      .def_rw("loss_chunks", &O::lossChunks)
      .def_rw("recipe", &O::recipe)
      .def_rw("total_steps", &O::totalSteps)
      .def_rw("outputs", &O::outputs)
      .def_rw("predictions", &O::predictions)
      .def_rw("insert_passes", &O::insertPasses)
      .def_prop_rw(
          "device",
          [](O &o) { return o.device ? o.device->str() : std::string("auto"); },
          setDevice)
      .def_rw("threads", &O::threads)
      .def_rw("seed", &O::seed);
}

} // namespace mantissa::python
