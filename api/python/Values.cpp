//===- Values.cpp - tensors as arrays and numbers of Python ---------------===//
#include "api/python/Arrays.h"
#include "runtime/data/Convert.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace mantissa::python {

const char *dtypeName(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return "bool";
  case ElementType::I8:
    return "int8";
  case ElementType::U8:
    return "uint8";
  case ElementType::I16:
    return "int16";
  case ElementType::U16:
    return "uint16";
  case ElementType::I32:
    return "int32";
  case ElementType::U32:
    return "uint32";
  case ElementType::I64:
    return "int64";
  case ElementType::F8E4M3FN:
    return "float8_e4m3fn";
  case ElementType::F8E5M2:
    return "float8_e5m2";
  case ElementType::F16:
    return "float16";
  case ElementType::BF16:
    return "bfloat16";
  case ElementType::F32:
    return "float32";
  case ElementType::F64:
    return "float64";
  }
  llvm_unreachable("every type is above");
}

/// ml_dtypes, or nothing if it is not installed. It is looked for once, and the
/// reference is never given up: at the end, Python may be gone before.
static nb::handle narrowTypes() {
  static nb::handle module = [] {
    PyObject *found = PyImport_ImportModule("ml_dtypes");
    if (!found)
      PyErr_Clear();
    return nb::handle(found);
  }();
  return module;
}

static nb::object newArray(TensorRef::Sizes sizes, const char *dtype,
                           const void *data, size_t bytes) {
  nb::list shape;
  for (int64_t size : sizes)
    shape.append(size);
  nb::object array =
      nb::module_::import_("numpy").attr("empty")(nb::tuple(shape), dtype);
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_CONTIG))
    throw nb::python_error();
  if (bytes)
    memcpy(buffer.buf, data, bytes);
  PyBuffer_Release(&buffer);
  return array;
}

nb::object toArray(const TensorRef &tensor) {
  ElementType type = tensor.element();
  bool isNarrow = type == ElementType::BF16 || type == ElementType::F8E4M3FN ||
                  type == ElementType::F8E5M2;
  if (!isNarrow)
    return newArray(tensor.shape(), dtypeName(type), tensor.data(),
                    tensor.bytes());
  if (nb::handle types = narrowTypes()) {
    const char *bits = mp::byteWidth(type) == 1 ? "u1" : "u2";
    return newArray(tensor.shape(), bits, tensor.data(), tensor.bytes())
        .attr("view")(types.attr(dtypeName(type)));
  }
  std::vector<float> wide = tensor.floats();
  return newArray(tensor.shape(), "float32", wide.data(),
                  wide.size() * sizeof(float));
}

nb::object toPython(const TensorRef &tensor) {
  if (!tensor.shape().empty())
    return toArray(tensor);
  ElementType type = tensor.element();
  auto *bytes = static_cast<const char *>(tensor.data());
  if (type == ElementType::I1)
    return nb::bool_(mp::loadInteger(type, bytes) != 0);
  if (mp::isInteger(type))
    return nb::int_(mp::loadInteger(type, bytes));
  return nb::float_(mp::loadElement(type, bytes));
}

} // namespace mantissa::python
