//===- Steps.cpp - Step for Python ----------------------------------------===//
#include "api/python/Arrays.h"
#include "api/python/Bindings.h"
#include "api/python/Owned.h"
#include "support/Error.h"
#include <nanobind/stl/string.h>

using namespace llvm;

namespace mantissa::python {

using OwnedStep = Owned<Step>;

nb::object makeStep(Step step, std::shared_ptr<Notes> notes) {
  return nb::cast(new OwnedStep(std::move(step), std::move(notes)),
                  nb::rv_policy::take_ownership);
}

static nb::tuple toPython(const TensorInfo &info) {
  nb::list sizes;
  for (int64_t size : info.type.shape)
    sizes.append(size);
  return nb::make_tuple(info.name, dtypeName(info.type.element),
                        nb::tuple(sizes), info.kind);
}

static nb::list toPython(ArrayRef<TensorInfo> infos) {
  nb::list list;
  for (const TensorInfo &info : infos)
    list.append(toPython(info));
  return list;
}

/// A result without a name has that of its place.
static nb::dict toPython(const Results &results) {
  nb::dict dict;
  for (size_t i = 0; i < results.size(); ++i) {
    std::string name = results.name(i).str();
    dict[nb::str(name.empty() ? std::to_string(i).c_str() : name.c_str())] =
        toPython(results[i]);
  }
  return dict;
}

static nb::tuple run(OwnedStep &owned, nb::dict inputs) {
  Arrays arrays(inputs);
  arrays.check([&] { return owned.facts().inputs(); });
  return owned.use([&](Step &step) { return step.run(arrays.tensors()); },
                   [](const StepResults &results) {
                     return nb::make_tuple(
                         toPython(results), results.step, results.loss,
                         results.lossScale, results.skipped, results.exhausted,
                         results.learningRate, results.gradientNorm);
                   });
}

static nb::dict predict(OwnedStep &owned, nb::dict inputs) {
  Arrays arrays(inputs);
  arrays.check([&] { return owned.facts().inputs(); });
  return owned.use([&](Step &step) { return step.predict(arrays.tensors()); },
                   [](const Results &results) { return toPython(results); });
}

static std::string findNonFinite(OwnedStep &owned, nb::dict inputs) {
  Arrays arrays(inputs);
  arrays.check([&] { return owned.facts().inputs(); });
  return owned.use(
      [&](Step &step) { return step.findNonFinite(arrays.tensors()); },
      [](std::string text) { return text; });
}

static nb::list predictInputs(OwnedStep &owned, int64_t rows) {
  return owned.use(
      [&](Step &step) { return step.predictInputs(rows); },
      [](const auto &infos) { return toPython(ArrayRef<TensorInfo>(infos)); });
}

static nb::list variables(OwnedStep &owned) {
  return owned.use(
      [&](Step &step) -> Expected<std::vector<TensorInfo>> {
        return step.variables();
      },
      [](const auto &infos) { return toPython(ArrayRef<TensorInfo>(infos)); });
}

static nb::object read(OwnedStep &owned, const std::string &variable) {
  TensorType type;
  return owned.use(
      [&](Step &step) -> Expected<std::vector<char>> {
        auto found = step.typeOf(variable);
        if (!found)
          return found.takeError();
        type = *found;
        std::vector<char> bytes(type.bytes());
        if (llvm::Error error = step.readInto(variable, type.element,
                                              bytes.data(), bytes.size()))
          return std::move(error);
        return bytes;
      },
      [&](const std::vector<char> &bytes) {
        return toArray({type.element, bytes.data(), type.shape});
      });
}

static void write(OwnedStep &owned, const std::string &variable,
                  nb::handle object) {
  Array array(variable, object);
  owned.use([&](Step &step) {
    auto type = step.typeOf(variable);
    if (!type)
      return type.takeError();
    if (!array.unknownType().empty())
      return mp::makeError("'{0}' is {1}, expected {2}", variable,
                           array.unknownType(), type->str());
    return step.write(variable, array.tensor());
  });
}

static void setLearningRate(OwnedStep &owned, double rate) {
  owned.use([&](Step &step) { return step.setLearningRate(rate); });
}
static void scaleLearningRate(OwnedStep &owned, double factor) {
  owned.use([&](Step &step) { return step.scaleLearningRate(factor); });
}
static void resetLearningRate(OwnedStep &owned) {
  owned.use([&](Step &step) { return step.resetLearningRate(); });
}
static void initialize(OwnedStep &owned, uint64_t seed) {
  owned.use([&](Step &step) { return step.initialize(seed); });
}
static void save(OwnedStep &owned, const nb::bytes &path) {
  owned.use([&](Step &step) { return step.save(pathText(path)); });
}
static void load(OwnedStep &owned, const nb::bytes &path) {
  owned.use([&](Step &step) { return step.load(pathText(path)); });
}
static void loadWeights(OwnedStep &owned, const nb::bytes &path) {
  owned.use([&](Step &step) { return step.loadWeights(pathText(path)); });
}

/// The facts of a tensor in the stubs: name, dtype, shape, kind.
#define MP_INFOS "list[tuple[str, str, tuple[int, ...], str]]"

void bindSteps(nb::module_ &core) {
  nb::class_<OwnedStep>(core, "Step")
      .def("run", run, nb::arg("inputs"),
           nb::sig("def run(self, inputs: dict[str, typing.Any]) -> "
                   "tuple[dict[str, typing.Any], int, float, float, bool, "
                   "bool, float, float]"))
      .def("predict", predict, nb::arg("inputs"),
           nb::sig("def predict(self, inputs: dict[str, typing.Any]) -> "
                   "dict[str, typing.Any]"))
      .def("find_non_finite", findNonFinite, nb::arg("inputs"),
           nb::sig("def find_non_finite(self, inputs: dict[str, typing.Any]) "
                   "-> str"))
      .def(
          "inputs",
          [](OwnedStep &owned) {
            return toPython(ArrayRef<TensorInfo>(owned.facts().inputs()));
          },
          nb::sig("def inputs(self) -> " MP_INFOS))
      .def("predict_inputs", predictInputs, nb::arg("rows"),
           nb::sig("def predict_inputs(self, rows: int) -> " MP_INFOS))
      .def("variables", variables, nb::sig("def variables(self) -> " MP_INFOS))
      .def("read", read, nb::arg("name"),
           nb::sig("def read(self, name: str) -> typing.Any"))
      .def("write", write, nb::arg("name"), nb::arg("array").none(),
           nb::sig("def write(self, name: str, array: typing.Any) -> None"))
      .def("initialize", initialize, nb::arg("seed"))
      .def("set_learning_rate", setLearningRate, nb::arg("rate"))
      .def("scale_learning_rate", scaleLearningRate, nb::arg("factor"))
      .def("reset_learning_rate", resetLearningRate)
      .def("save", save, nb::arg("path"))
      .def("load", load, nb::arg("path"))
      .def("load_weights", loadWeights, nb::arg("path"))
      .def_prop_ro("steps", [](OwnedStep &o) { return o.facts().steps(); })
      .def_prop_ro("skipped", [](OwnedStep &o) { return o.facts().skipped(); })
      .def_prop_ro("device", [](OwnedStep &o) { return o.facts().device(); })
      .def_prop_ro("planned_bytes",
                   [](OwnedStep &o) { return o.facts().plannedBytes(); });
}

#undef MP_INFOS

} // namespace mantissa::python
