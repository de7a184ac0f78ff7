//===- Modules.cpp - Module for Python ------------------------------------===//
//
// Python's lock is released while the compiler works. Its warnings are passed
// on afterwards, if there is no error.
//
//===----------------------------------------------------------------------===//
#include "api/python/Bindings.h"
#include "api/python/WithoutLock.h"
#include "mantissa-exceptions.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace llvm;

namespace mantissa::python {

/// Calls a function of the library without Python's lock.
template <typename Function> static auto unlocked(Function function) {
  WithoutLock lock;
  return check(function());
}

static Module parse(const std::string &text, const std::string &name) {
  return unlocked([&] { return Module::parse(text, name); });
}

static Module read(const nb::bytes &path) {
  return unlocked([&] { return Module::read(pathText(path)); });
}

static nb::object compileStep(const Module &module, const Options &options) {
  Step step = unlocked([&] { return module.compileStep(options); });
  options.notes->warn();
  return makeStep(std::move(step), options.notes);
}

static nb::object compileGenerator(const Module &module,
                                   const nb::bytes &weights, bool averaged,
                                   const Options &options) {
  Generator generator = unlocked([&] {
    return module.compileGenerator(pathText(weights), options,
                                   averaged ? Weights::Averaged
                                            : Weights::Trained);
  });
  options.notes->warn();
  return makeGenerator(std::move(generator), options.notes);
}

static std::string explain(const Module &module, const Options &options) {
  std::string text = unlocked([&] { return module.explain(options); });
  options.notes->warn();
  return text;
}

static void save(const Module &module, const nb::bytes &path,
                 const Options &options, bool isPrediction) {
  {
    WithoutLock lock;
    check(isPrediction ? module.savePrediction(pathText(path), options)
                       : module.saveStep(pathText(path), options));
  }
  options.notes->warn();
}

static nb::object loadPrograms(const std::vector<nb::bytes> &paths,
                               const Options &options) {
  std::vector<std::string> files;
  for (const nb::bytes &path : paths)
    files.push_back(pathText(path).str());
  RunOptions run{options.device, options.threads, options.seed, options.onNote};
  Step step = unlocked([&] { return Step::fromPrograms(files, run); });
  options.notes->warn();
  return makeStep(std::move(step), options.notes);
}

void bindModules(nb::module_ &core) {
  nb::class_<Module>(core, "Module")
      .def_static("parse", parse, nb::arg("text"), nb::arg("name"))
      .def_static("read", read, nb::arg("path"))
      .def("compile_step", compileStep, nb::arg("options"),
           nb::sig("def compile_step(self, options: Options) -> Step"))
      .def("compile_generator", compileGenerator, nb::arg("weights"),
           nb::arg("averaged"), nb::arg("options"),
           nb::sig("def compile_generator(self, weights: bytes, averaged: "
                   "bool, options: Options) -> Generator"))
      .def("explain", explain, nb::arg("options"))
      .def("save", save, nb::arg("path"), nb::arg("options"),
           nb::arg("is_prediction"));
  core.def(
      "load_programs", loadPrograms, nb::arg("paths"), nb::arg("options"),
      nb::sig(
          "def load_programs(paths: list[bytes], options: Options) -> Step"));
}

} // namespace mantissa::python
