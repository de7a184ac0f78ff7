//===- Npy.cpp - NumPy's array files --------------------------------------===//
#include "runtime/data/Npy.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace mp {
namespace {

constexpr StringRef npyMagic("\x93NUMPY", 6);

constexpr std::pair<StringLiteral, ElementType> kDtypes[] = {
    {"f2", ElementType::F16}, {"f4", ElementType::F32},
    {"f8", ElementType::F64}, {"i1", ElementType::I8},
    {"u1", ElementType::U8},  {"i4", ElementType::I32},
    {"i8", ElementType::I64}, {"b1", ElementType::I1},
};

/// Splits "<version><length><header>" and leaves the data in `rest`.
Expected<StringRef> splitHeader(StringRef content, StringRef path,
                                StringRef &rest) {
  if (!content.starts_with(npyMagic))
    return makeError("{0}: not an npy file: expected the magic \\x93NUMPY",
                     path);
  if (content.size() < 10)
    return makeError("{0}: truncated in the npy header", path);
  unsigned version = static_cast<unsigned char>(content[6]);
  if (version < 1 || version > 3)
    return makeError("{0}: npy format version {1}, expected 1, 2 or 3", path,
                     version);
  size_t start = version == 1 ? 10 : 12;
  if (content.size() < start)
    return makeError("{0}: truncated in the npy header", path);
  uint64_t length = version == 1
                        ? support::endian::read16le(content.data() + 8)
                        : support::endian::read32le(content.data() + 8);
  if (length > content.size() - start)
    return makeError(
        "{0}: truncated: the npy header has {1} bytes, the file {2} "
        "more",
        path, length, content.size() - start);
  rest = content.drop_front(start + length);
  return content.substr(start, length);
}

/// The value after "'key':" in the header, a literal of a Python dict.
std::optional<StringRef> findValue(StringRef header, StringRef key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = (Twine(quote) + key + Twine(quote)).str();
    size_t at = header.find(quoted);
    if (at == StringRef::npos)
      continue;
    StringRef value = header.drop_front(at + quoted.size()).ltrim();
    if (value.consume_front(":"))
      return value.ltrim();
  }
  return std::nullopt;
}

std::optional<ElementType> parseDtype(StringRef value) {
  if (value.size() < 5 || (value[0] != '\'' && value[0] != '"'))
    return std::nullopt;
  size_t end = value.find(value[0], 1);
  StringRef name = value.slice(1, end);
  bool oneByte = name.ends_with("1");
  if (!name.consume_front("<") && !(oneByte && name.consume_front("|")))
    return std::nullopt;
  for (auto [dtype, element] : kDtypes)
    if (name == dtype)
      return element;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> parseShape(StringRef value) {
  std::vector<int64_t> shape;
  if (!value.consume_front("("))
    return std::nullopt;
  while (!(value = value.ltrim()).consume_front(")")) {
    int64_t size;
    if (value.consumeInteger(10, size) || size < 0 || shape.size() == 32)
      return std::nullopt;
    shape.push_back(size);
    value = value.ltrim();
    if (!value.consume_front(",") && !value.starts_with(")"))
      return std::nullopt;
  }
  return shape;
}

Expected<TensorType> parseHeader(StringRef header, StringRef path) {
  auto descr = findValue(header, "descr");
  auto order = findValue(header, "fortran_order");
  auto shape = findValue(header, "shape");
  if (!descr || !order || !shape)
    return makeError("{0}: damaged npy header: expected 'descr', "
                     "'fortran_order' and 'shape'",
                     path);
  auto element = parseDtype(*descr);
  if (!element)
    return makeError(
        "{0}: npy dtype {1} is not supported, expected little-endian "
        "f2, f4, f8, i1, u1, i4, i8 or b1",
        path, printableHead(*descr));
  if (!order->starts_with("False"))
    return makeError("{0}: npy data in Fortran order, expected C order (save "
                     "numpy.ascontiguousarray of it)",
                     path);
  auto sizes = parseShape(*shape);
  if (!sizes)
    return makeError("{0}: damaged npy header: shape {1}", path,
                     printableHead(*shape));
  return TensorType{*element, std::move(*sizes)};
}

std::string pythonShape(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (int64_t size : shape)
    text += std::to_string(size) + ",";
  return text + ")";
}

} // namespace

Expected<Array> readNpy(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  std::shared_ptr<const MappedFile> owner = std::move(*buffer);
  StringRef rest;
  auto header = splitHeader(owner->getBuffer(), path, rest);
  if (!header)
    return header.takeError();
  auto type = parseHeader(*header, path);
  if (!type)
    return type.takeError();
  std::optional<uint64_t> bytes = checkedBytes(*type);
  if (!bytes)
    return makeError("{0}: npy sizes overflow: {1}", path, type->str());
  if (*bytes != rest.size())
    return makeError("{0}: {1}: {2} needs {3} bytes of data, the file has {4}",
                     path,
                     rest.size() < *bytes ? "truncated" : "bytes left over",
                     type->str(), *bytes, rest.size());
  ArrayRef<char> data(rest.data(), rest.size());
  if (Error error = checkBooleans(*type, data, path))
    return error;
  return unlessChanged<Array>(
      *owner, Array{std::move(*type), data, owner, owner.get()});
}

Error writeNpy(StringRef path, const TensorType &type, ArrayRef<char> bytes) {
  std::vector<char> converted;
  ElementType element = type.element;
  // NumPy has neither bf16 nor 8-bit floats.
  if (isFloat(element) &&
      (element == ElementType::BF16 || byteWidth(element) == 1)) {
    element = ElementType::F32;
    converted.resize(type.elements() * byteWidth(element));
    convertElements(type.element, bytes, element, converted);
    bytes = converted;
  }
  auto *dtype =
      llvm::find_if(kDtypes, [&](auto &d) { return d.second == element; });
  std::string header =
      formatv("{{'descr': '{0}{1}', 'fortran_order': False, 'shape': {2}, }",
              byteWidth(element) == 1 ? "|" : "<", dtype->first,
              pythonShape(type.shape));
  // The data start on a multiple of 64 bytes; the header ends with a line feed.
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  char length[2];
  support::endian::write16le(length, header.size());
  std::string start = npyMagic.str() + std::string("\x01\x00", 2) +
                      std::string(length, 2) + header;
  return writeAtomically(path, [&](OutputFile &file) -> Error {
    if (Error error = file.write(start))
      return error;
    return file.write({bytes.data(), bytes.size()});
  });
}

} // namespace mp
