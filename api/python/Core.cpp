//===- Core.cpp - the module mantissa._core -------------------------------===//
#include "api/python/Bindings.h"
#include "mantissa-exceptions.h"

using namespace mantissa;

/// The library's errors are mantissa.Error.
static void translate(const std::exception_ptr &thrown, void *) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error &error) {
    namespace nb = nanobind;
    nb::object type = nb::module_::import_("mantissa").attr("Error");
    // A file's name need not be UTF-8.
    nb::object text = nb::steal(PyUnicode_DecodeFSDefault(error.what()));
    PyErr_SetObject(type.ptr(), text.ptr());
  }
}

NB_MODULE(_core, core) {
  core.doc() = "The library as mantissa.h has it.";
  core.attr("version") = MP_VERSION;
  // A program that ends while steps are alive is no mistake.
  nanobind::set_leak_warnings(false);
  nanobind::register_exception_translator(translate);
  python::bindOptions(core);
  python::bindSteps(core);
  python::bindGenerators(core);
  python::bindModules(core);
}
