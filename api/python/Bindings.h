//===- Bindings.h - the parts of the module _core ---------------*- C++ -*-===//
//
// _core has the classes of mantissa.h with few conveniences; those, and the
// documentation for users, are in mantissa/*.py.
//
//===----------------------------------------------------------------------===//
#ifndef MP_API_PYTHON_BINDINGS_H
#define MP_API_PYTHON_BINDINGS_H

#include "api/python/Notes.h"
#include "mantissa.h"

namespace mantissa::python {

namespace nb = nanobind;

/// How to compile or load a step, and where its warnings go.
struct Options : StepOptions {
  Options() {
    onNote = [notes = notes](llvm::StringRef text) { notes->add(text); };
  }
  std::shared_ptr<Notes> notes = std::make_shared<Notes>();
};

/// Returns a Step or a Generator for Python.
nb::object makeStep(Step step, std::shared_ptr<Notes> notes);
nb::object makeGenerator(Generator generator, std::shared_ptr<Notes> notes);

void bindOptions(nb::module_ &core);
void bindModules(nb::module_ &core);
void bindSteps(nb::module_ &core);
void bindGenerators(nb::module_ &core);

/// A path as os.fsencode gives it.
inline llvm::StringRef pathText(const nb::bytes &path) {
  return {path.c_str(), path.size()};
}

} // namespace mantissa::python

#endif // MP_API_PYTHON_BINDINGS_H
