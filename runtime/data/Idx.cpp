//===- Idx.cpp - the idx files of MNIST and similar data ------------------===//
#include "runtime/data/Idx.h"
#include "runtime/data/ByteSource.h"
#include "support/Error.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace llvm;

namespace mp {
namespace {

std::optional<ElementType> elementOf(unsigned char code) {
  switch (code) {
  case 0x08:
    return ElementType::U8;
  case 0x09:
    return ElementType::I8;
  case 0x0C:
    return ElementType::I32;
  case 0x0D:
    return ElementType::F32;
  case 0x0E:
    return ElementType::F64;
  default:
    return std::nullopt;
  }
}

/// Reads the magic number (0, 0, type, rank) and the big-endian sizes.
Expected<TensorType> readHeader(ByteSource &source, StringRef path) {
  unsigned char magic[4];
  if (Error error =
          source.read({reinterpret_cast<char *>(magic), sizeof(magic)}))
    return error;
  if (magic[0] || magic[1])
    return makeError("{0}: not an idx file: starts with bytes {1:x-2} {2:x-2}, "
                     "expected 00 00 (or a gzip file of such)",
                     path, magic[0], magic[1]);
  std::optional<ElementType> element = elementOf(magic[2]);
  if (!element)
    return makeError("{0}: idx element type {1:x-2} is not supported, expected "
                     "08 (u8), 09 (i8), 0c (i32), 0d (f32) or 0e (f64)",
                     path, magic[2]);
  TensorType type{*element, {}};
  for (unsigned i = 0; i < magic[3]; ++i) {
    char size[4];
    if (Error error = source.read(size))
      return error;
    type.shape.push_back(support::endian::read32be(size));
  }
  if (!checkedBytes(type))
    return makeError("{0}: idx sizes overflow: {1}", path, type.str());
  return type;
}

/// idx is big-endian, memory is little-endian.
void swapBytes(MutableArrayRef<char> bytes, unsigned width) {
  for (size_t i = 0; width > 1 && i < bytes.size(); i += width)
    std::reverse(bytes.begin() + i, bytes.begin() + i + width);
}

Expected<Array> readContent(StringRef content, StringRef path) {
  std::unique_ptr<ByteSource> source = openBytes(content, path);
  Expected<TensorType> type = readHeader(*source, path);
  if (!type)
    return type.takeError();
  uint64_t bytes = type->bytes();
  // Deflate cannot compress better than about 1 to 1032: a header that claims
  // more is damaged, and its claim must not be allocated.
  uint64_t most = isGzip(content) ? content.size() * 1040 : content.size();
  if (bytes > most)
    return makeError("{0}: truncated: {1} needs {2} bytes, the file has {3}",
                     path, type->str(), bytes, content.size());
  char *storage;
  Array array = Array::allocate(std::move(*type), &storage);
  MutableArrayRef<char> all(storage, bytes);
  if (Error error = source->read(all))
    return error;
  if (Error error = source->expectEnd())
    return error;
  swapBytes(all, byteWidth(array.type.element));
  return array;
}

} // namespace

Expected<TensorType> peekIdx(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  return readHeader(*openBytes((*buffer)->getBuffer(), path), path);
}

Expected<Array> readIdx(StringRef path) {
  auto file = mapFile(path);
  if (!file)
    return file.takeError();
  return unlessChanged(**file, readContent((*file)->getBuffer(), path));
}

} // namespace mp
