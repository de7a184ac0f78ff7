//===- Arrays.cpp - arrays of Python as tensors ---------------------------===//
#include "api/python/Arrays.h"
#include "mantissa-exceptions.h"
#include "support/Error.h"
#include "llvm/ADT/StringSwitch.h"
#include <nanobind/stl/string.h>

using namespace llvm;

namespace mantissa::python {

//===----------------------------------------------------------------------===//
// Names of element types, as MLIR spells them
//===----------------------------------------------------------------------===//

/// Reads the format of a buffer, as the module `struct` has them. Their widths
/// depend on the machine, so that of an element counts.
static std::string elementsOf(const Py_buffer &buffer) {
  StringRef format = buffer.format ? buffer.format : "B";
  StringRef kind = format;
  bool isBig = kind.consume_front(">") || kind.consume_front("!");
  if (!isBig && !kind.empty() && StringRef("@=<").contains(kind.front()))
    kind = kind.drop_front();
  StringRef prefix;
  if (kind == "?")
    return "i1";
  if (kind.size() == 1)
    prefix = StringSwitch<StringRef>(kind)
                 .Cases({"b", "h", "i", "l", "q", "n"}, "i")
                 .Cases({"B", "H", "I", "L", "Q", "N"}, "ui")
                 .Cases({"e", "f", "d", "g"}, "f")
                 .Default("");
  if (prefix.empty())
    return formatv("(format {0})", format);
  std::string name = formatv("{0}{1}", prefix, 8 * buffer.itemsize);
  return isBig && buffer.itemsize > 1 ? "(big-endian " + name + ")" : name;
}

static std::string elementsOf(nb::dlpack::dtype type) {
  // Not all versions of nanobind have names for these.
  enum { E4M3FN = 10, E5M2 = 12 };
  if (type.lanes != 1)
    return formatv("(vectors of {0})", type.lanes);
  switch (type.code) {
  case uint8_t(nb::dlpack::dtype_code::Int):
    return formatv("i{0}", type.bits);
  case uint8_t(nb::dlpack::dtype_code::UInt):
    return formatv("ui{0}", type.bits);
  case uint8_t(nb::dlpack::dtype_code::Float):
    return formatv("f{0}", type.bits);
  case uint8_t(nb::dlpack::dtype_code::Bfloat):
    return formatv("bf{0}", type.bits);
  case uint8_t(nb::dlpack::dtype_code::Bool):
    return "i1";
  case E4M3FN:
    return "f8E4M3FN";
  case E5M2:
    return "f8E5M2";
  default:
    return formatv("(DLPack's type {0} of {1} bits)", type.code, type.bits);
  }
}

static std::string elementsOf(StringRef dtype) {
  return StringSwitch<std::string>(dtype)
      .Case("bfloat16", "bf16")
      .Case("float8_e4m3fn", "f8E4M3FN")
      .Case("float8_e5m2", "f8E5M2")
      .Default(("(" + dtype + ")").str());
}

//===----------------------------------------------------------------------===//
// One array
//===----------------------------------------------------------------------===//

Array::Array(StringRef name, nb::handle object) : name(name) {
  if (takeBuffer(object) || takeDlpack(object) || takeNarrow(object))
    return;
  if (nb::hasattr(object, "__dlpack__"))
    object.attr("__dlpack__")(); // raises what is wrong
  std::string text = formatv(
      "'{0}' is {1}, expected an array: one of NumPy, or anything with the "
      "buffer protocol or __dlpack__",
      name,
      object.is_none()
          ? std::string("None")
          : "of type " + nb::cast<std::string>(nb::type_name(object.type())));
  throw nb::type_error(text.c_str());
}

void Array::setView(const void *data, StringRef elements,
                    TensorRef::Sizes sizes, TensorRef::Sizes strides) {
  std::optional<ElementType> type = mp::parseElementType(elements);
  view = TensorRef(type.value_or(ElementType::U8), data, sizes, strides);
  unknown.clear();
  if (type)
    return;
  for (int64_t size : sizes)
    unknown += std::to_string(size) + "x";
  unknown += elements;
}

/// The strides in elements; empty if there are no elements, as any do then.
static std::vector<int64_t> elementStrides(StringRef name,
                                           const Py_buffer &buffer) {
  std::vector<int64_t> strides;
  for (int i = 0; buffer.len && i < buffer.ndim; ++i) {
    if (buffer.strides[i] % buffer.itemsize && buffer.shape[i] > 1)
      throw Error(mp::makeError(
          "'{0}': a stride of the view is {1} bytes, which are not whole "
          "elements of {2}: copy it",
          name, buffer.strides[i], buffer.itemsize));
    strides.push_back(buffer.strides[i] / buffer.itemsize);
  }
  return strides;
}

bool Array::takeBuffer(nb::handle object) {
  if (!PyObject_CheckBuffer(object.ptr()))
    return false;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_FORMAT | PyBUF_STRIDES)) {
    PyErr_Clear(); // NumPy has arrays that are no buffers
    return false;
  }
  std::vector<int64_t> sizes(buffer.shape, buffer.shape + buffer.ndim);
  setView(buffer.buf, elementsOf(buffer), sizes, elementStrides(name, buffer));
  return true;
}

bool Array::takeDlpack(nb::handle object) {
  if (!nb::try_cast(object, dlpack) || !dlpack.is_valid())
    return false;
  int device = dlpack.device_type();
  enum { Host = 1, PinnedHost = 3 };
  if (device != Host && device != PinnedHost)
    throw Error(mp::makeError(
        "'{0}' is in the memory of a device (DLPack's number {1}), expected "
        "that of the host: copy it",
        name, device));
  std::vector<int64_t> sizes, strides;
  for (size_t i = 0; i < dlpack.ndim(); ++i) {
    sizes.push_back(dlpack.shape(i));
    strides.push_back(dlpack.stride(i));
  }
  if (is_contained(sizes, 0))
    strides.clear();
  setView(dlpack.data(), elementsOf(dlpack.dtype()), sizes, strides);
  return true;
}

/// NumPy's arrays of types that other packages add, such as bfloat16, are not
/// buffers. Their bits are.
bool Array::takeNarrow(nb::handle object) {
  if (!nb::isinstance(object, nb::module_::import_("numpy").attr("ndarray")))
    return false;
  nb::object dtype = object.attr("dtype");
  auto elements = elementsOf(StringRef(nb::str(dtype.attr("name")).c_str()));
  std::string bits = formatv("u{0}", nb::cast<int>(dtype.attr("itemsize")));
  if (!takeBuffer(object.attr("view")(bits)))
    return false;
  std::vector<int64_t> sizes(buffer.shape, buffer.shape + buffer.ndim);
  setView(buffer.buf, elements, sizes, elementStrides(name, buffer));
  return true;
}

//===----------------------------------------------------------------------===//
// A dict of arrays
//===----------------------------------------------------------------------===//

Arrays::Arrays(nb::dict dict) {
  for (auto [key, value] : dict) {
    Py_ssize_t length = 0;
    const char *text = PyUnicode_Check(key.ptr())
                           ? PyUnicode_AsUTF8AndSize(key.ptr(), &length)
                           : nullptr;
    if (!text) {
      PyErr_Clear();
      throw nb::type_error("the names of arrays are strings");
    }
    keys.push_back(nb::borrow(key)); // which has the memory of the text
    StringRef name(text, length);
    arrays.emplace_back(name, value);
    named.push_back({name, arrays.back().tensor()});
  }
}

void Arrays::check(function_ref<std::vector<TensorInfo>()> inputs) const {
  for (auto [tensor, array] : zip_equal(named, arrays)) {
    if (array.unknownType().empty())
      continue;
    // The library tells of an input that there is none of.
    for (const TensorInfo &input : inputs())
      if (input.name == tensor.name)
        throw Error(mp::makeError("'{0}' is {1}, expected elements of {2}",
                                  input.name, array.unknownType(),
                                  mp::elementTypeName(input.type.element)));
  }
}

} // namespace mantissa::python
