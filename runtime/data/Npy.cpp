//===- Npy.cpp - NumPy's array files --------------------------------------===//
#include "runtime/data/Npy.h"
#include "runtime/data/Convert.h"
#include "runtime/data/NpyHeader.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace mp {
namespace {

constexpr StringRef npyMagic("\x93NUMPY", 6);

/// NumPy's limit: Python's parser takes long for more.
constexpr uint64_t kMostHeaderBytes = 10'000;

/// Splits "<version><length><header>" and leaves the data in `rest`.
Expected<StringRef> splitHeader(StringRef content, StringRef path,
                                StringRef &rest) {
  if (content.starts_with("PK\x03\x04"))
    return makeError("{0}: a zip archive, such as an npz file of NumPy: unpack "
                     "it, expected an npy file",
                     path);
  if (!content.starts_with(npyMagic))
    return makeError("{0}: not an npy file: expected the magic \\x93NUMPY",
                     path);
  if (content.size() < 10)
    return makeError("{0}: truncated in the npy header", path);
  unsigned version = static_cast<unsigned char>(content[6]);
  unsigned minor = static_cast<unsigned char>(content[7]);
  if (version < 1 || version > 3 || minor)
    return makeError("{0}: npy format version {1}.{2}, expected 1.0, 2.0 or "
                     "3.0",
                     path, version, minor);
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
  if (length > kMostHeaderBytes)
    return makeError("{0}: the npy header has {1} bytes, expected at most {2}",
                     path, length, kMostHeaderBytes);
  rest = content.drop_front(start + length);
  return content.substr(start, length);
}

Expected<TensorType> parseHeader(StringRef text, unsigned version,
                                 StringRef path) {
  NpyHeader header(text, /*hasLongs=*/version < 3);
  if (header.read())
    return makeError("{0}: damaged npy header: {1}", path, header.message());
  auto element = parseNpyDtype(*header.descr);
  if (!element)
    return makeError(
        "{0}: npy dtype {1} is not supported, expected little-endian "
        "f2, f4, f8, i1, u1, i2, u2, i4, u4, i8 or b1",
        path, printableHead(*header.descr));
  if (*header.fortranOrder)
    return makeError("{0}: npy data in Fortran order, expected C order (save "
                     "numpy.ascontiguousarray of it)",
                     path);
  return TensorType{*element, std::move(*header.shape)};
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
  unsigned version = owner->getBuffer()[npyMagic.size()];
  auto type = parseHeader(*header, version, path);
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
      llvm::find_if(npyDtypes(), [&](auto &d) { return d.second == element; });
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
