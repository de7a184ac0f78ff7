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

/// Fails if reading `path` could wait for ever, or never end.
static Error checkKind(StringRef path, bool takesPipes) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return makeError("{0}: {1}", path, code.message());
  switch (status.type()) {
  case sys::fs::file_type::regular_file:
    return Error::success();
  case sys::fs::file_type::directory_file:
    return makeError("{0}: is a folder, expected a file", path);
  case sys::fs::file_type::fifo_file:
    if (takesPipes)
      return Error::success();
    return makeError("{0}: is a pipe, expected a regular file", path);
  default:
    return makeError("{0}: is a device, expected a regular file", path);
  }
}

/// A file that may change while it is read must not be mapped, and reading it
/// takes less than what is done with it.
static Expected<std::unique_ptr<MemoryBuffer>> readWhole(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false,
                                      /*IsVolatile=*/true);
  if (!buffer)
    return makeError("{0}: {1}", path, buffer.getError().message());
  return std::move(*buffer);
}

Expected<std::shared_ptr<const MappedFile>> mapFile(StringRef path) {
  if (Error error = checkKind(path, /*takesPipes=*/false))
    return std::move(error);
  return MappedFile::open(path);
}

Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef path) {
  if (Error error = checkKind(path, /*takesPipes=*/false))
    return std::move(error);
  return readWhole(path);
}

/// Reads a pipe to its end, but no more than `most` bytes and one.
static Expected<std::unique_ptr<MemoryBuffer>> readPipe(StringRef path,
                                                        size_t most) {
  auto file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return makeError("{0}: {1}", path, toString(file.takeError()));
  SmallString<0> text;
  Error error = Error::success();
  while (!error && text.size() <= most) {
    size_t before = text.size(), part = size_t(64) << 10;
    text.resize_for_overwrite(before + part);
    auto got = sys::fs::readNativeFile(
        *file, MutableArrayRef(text.data() + before, part));
    text.resize(before + (got ? *got : 0));
    if (!got)
      error = makeError("{0}: {1}", path, toString(got.takeError()));
    else if (*got == 0)
      break;
  }
  sys::fs::closeFile(*file);
  if (error)
    return std::move(error);
  return MemoryBuffer::getMemBufferCopy(text, path);
}

static std::vector<std::pair<std::string, NamedModule>> &namedModules() {
  static std::vector<std::pair<std::string, NamedModule>> schemes;
  return schemes;
}

void nameModules(StringRef scheme, NamedModule find) {
  namedModules().push_back({scheme.str() + ":", find});
}

bool isNamedModule(StringRef name) {
  return any_of(namedModules(),
                [&](const auto &scheme) {
                  return name.starts_with(scheme.first);
                }) &&
         !sys::fs::exists(name);
}

Expected<std::unique_ptr<MemoryBuffer>> readText(StringRef path) {
  constexpr size_t most = size_t(256) << 20;
  for (auto &[scheme, find] : namedModules())
    if (path.starts_with(scheme) && !sys::fs::exists(path)) {
      Expected<std::string> text = find(path.drop_front(scheme.size()));
      if (!text)
        return text.takeError();
      return MemoryBuffer::getMemBufferCopy(*text, path);
    }
  if (Error error = checkKind(path, /*takesPipes=*/true))
    return std::move(error);
  auto text =
      sys::fs::is_regular_file(path) ? readWhole(path) : readPipe(path, most);
  if (text && (*text)->getBufferSize() > most)
    return makeError("{0}: is longer than {1} MiB, which is no module", path,
                     most >> 20);
  return text;
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
