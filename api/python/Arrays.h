//===- Arrays.h - arrays of Python as tensors, and back ---------*- C++ -*-===//
#ifndef MP_API_PYTHON_ARRAYS_H
#define MP_API_PYTHON_ARRAYS_H

#include "mantissa.h"
#include <deque>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace mantissa::python {

namespace nb = nanobind;

/// An array of the caller, whose memory it keeps: NumPy's, or anything with the
/// buffer protocol or `__dlpack__`. Nothing is copied.
class Array {
public:
  /// Throws a TypeError that begins with `name` if the object is no array, an
  /// Error if no TensorRef can describe its memory, or what `__dlpack__`
  /// raises.
  Array(llvm::StringRef name, nb::handle object);
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  /// The tensor; of some type if the library has none for its elements.
  const TensorRef &tensor() const { return view; }
  /// Empty, or "128xi16": a type that the library does not have.
  const std::string &unknownType() const { return unknown; }

private:
  bool takeBuffer(nb::handle object);
  bool takeDlpack(nb::handle object);
  bool takeNarrow(nb::handle object);
  void setView(const void *data, llvm::StringRef elements,
               TensorRef::Sizes sizes, TensorRef::Sizes strides);

  /// Not to be moved: it may point into itself.
  struct Buffer : Py_buffer {
    Buffer() : Py_buffer{} {}
    ~Buffer() { PyBuffer_Release(this); } // of none is nothing
  };

  std::string name;
  Buffer buffer;
  nb::ndarray<nb::ro> dlpack;
  TensorRef view;
  std::string unknown;
};

/// The arrays of a dict, by name.
class Arrays {
public:
  explicit Arrays(nb::dict dict);
  NamedTensors tensors() const { return named; }
  /// Throws an Error if an array has elements of a type that the library does
  /// not have. The inputs are asked for only then.
  void check(llvm::function_ref<std::vector<TensorInfo>()> inputs) const;

private:
  std::vector<nb::object> keys;
  std::deque<Array> arrays;
  std::vector<NamedTensor> named;
};

/// NumPy's name of an element type: "uint8", "bfloat16".
const char *dtypeName(ElementType type);
/// A new NumPy array. bf16 and f8 have the types of ml_dtypes if this is
/// installed, and else are converted to float32.
nb::object toArray(const TensorRef &tensor);
/// A tensor without dimensions as a number, else an array.
nb::object toPython(const TensorRef &tensor);

} // namespace mantissa::python

#endif // MP_API_PYTHON_ARRAYS_H
