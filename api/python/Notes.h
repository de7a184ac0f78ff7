//===- Notes.h - warnings of the library as warnings of Python --*- C++ -*-===//
#ifndef MP_API_PYTHON_NOTES_H
#define MP_API_PYTHON_NOTES_H

#include "llvm/ADT/StringRef.h"
#include <memory>
#include <mutex>
#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace mantissa::python {

/// Keeps warnings, which come from any thread and without Python's lock, until
/// the call ends.
class Notes {
public:
  void add(llvm::StringRef text) {
    std::lock_guard lock(mutex);
    waiting.push_back(text.str());
  }

  /// Passes them to Python's module `warnings`. Throws if its filters make an
  /// exception of one.
  void warn() {
    std::vector<std::string> texts;
    {
      std::lock_guard lock(mutex);
      texts.swap(waiting);
    }
    for (const std::string &text : texts) {
      namespace nb = nanobind;
      nb::object category = nb::module_::import_("mantissa").attr("Note");
      // The caller of the package is two frames away.
      if (PyErr_WarnEx(category.ptr(), text.c_str(), 2))
        throw nb::python_error();
    }
  }

private:
  std::mutex mutex;
  std::vector<std::string> waiting;
};

} // namespace mantissa::python

#endif // MP_API_PYTHON_NOTES_H
