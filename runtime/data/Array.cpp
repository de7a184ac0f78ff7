//===- Array.cpp - a tensor read from a file ------------------------------===//
#include "runtime/data/Array.h"
#include "runtime/data/Idx.h"
#include "runtime/data/Npy.h"
#include "runtime/data/Safetensors.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace mp {

Array Array::allocate(TensorType type, char **storage) {
  uint64_t bytes = type.bytes();
  auto owner = std::make_shared_for_overwrite<char[]>(bytes);
  *storage = owner.get();
  return {std::move(type), ArrayRef<char>(owner.get(), bytes), owner};
}

std::optional<uint64_t> checkedBytes(const TensorType &type) {
  int64_t bytes = byteWidth(type.element);
  for (int64_t size : type.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  return bytes;
}

Expected<std::unique_ptr<MemoryBuffer>> mapFile(StringRef path) {
  if (sys::fs::is_directory(path))
    return makeError("{0}: is a folder, expected a file", path);
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("{0}: {1}", path, buffer.getError().message());
  return std::move(*buffer);
}

Error checkBooleans(const TensorType &type, ArrayRef<char> bytes,
                    StringRef what) {
  if (type.element != ElementType::I1)
    return Error::success();
  for (size_t i = 0; i < bytes.size(); ++i)
    if (static_cast<unsigned char>(bytes[i]) > 1)
      return makeError(
          "{0}: element {1} of a boolean tensor is {2}, expected 0 "
          "or 1",
          what, i, static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
  return Error::success();
}

Expected<Array> readArray(StringRef path, StringRef format, StringRef key) {
  if (format == "idx")
    return readIdx(path);
  if (format == "npy")
    return readNpy(path);
  if (format != "safetensors")
    return makeError("{0}: unknown format '{1}'{2}", path, format,
                     suggest(format, {"idx", "npy", "safetensors"}));
  Expected<Safetensors> file = readSafetensors(path);
  if (!file)
    return file.takeError();
  return file->only(key);
}

Expected<TensorType> peekType(StringRef path, StringRef format, StringRef key) {
  if (format == "idx")
    return peekIdx(path);
  Expected<Array> array = readArray(path, format, key);
  if (!array)
    return array.takeError();
  return array->type;
}

} // namespace mp
