//===- Array.h - a tensor read from a file --------------------------------===//
#ifndef MP_RUNTIME_DATA_ARRAY_H
#define MP_RUNTIME_DATA_ARRAY_H

#include "program/Program.h"
#include "runtime/data/MappedFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>

namespace mp {

/// A dense row-major tensor in memory, little-endian. The bytes are owned, or
/// lie in a mapped file that `owner` keeps open; they may be unaligned.
struct Array {
  TensorType type;
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
  const MappedFile *file = nullptr; ///< the owner, if it is one

  /// Returns an array that owns `bytes` uninitialised bytes, to which
  /// `*storage` is set.
  static Array allocate(TensorType type, char **storage);
  /// Fails if bytes that were read so far may have changed in their file.
  llvm::Error check() const {
    return file ? file->check() : llvm::Error::success();
  }
};

/// Returns the bytes of a dense tensor, or none if a size is negative or the
/// product does not fit into 63 bits. Sizes that are read from a file are
/// checked with it first.
std::optional<uint64_t> checkedBytes(const TensorType &type);

/// Opens a regular file for reading it where it lies. Errors are of the form
/// "path: No such file or directory".
llvm::Expected<std::shared_ptr<const MappedFile>> mapFile(llvm::StringRef path);

/// Reads a regular file into memory.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path);

/// Returns the text of the module of that name.
using NamedModule = llvm::Expected<std::string> (*)(llvm::StringRef name);

/// Lets `readText("SCHEME:NAME")` return what `find` returns for NAME, unless
/// there is such a file. For the start of a program: no module is read yet.
void nameModules(llvm::StringRef scheme, NamedModule find);

/// Returns whether `name` is of a scheme of `nameModules`, and no file.
bool isNamedModule(llvm::StringRef name);

/// Reads the text of a module: a regular file, a pipe such as /dev/stdin, or a
/// name of `nameModules`. Fails if it is longer than any module.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readText(llvm::StringRef path);

/// Fails if an i1 array holds a byte other than 0 and 1. `what` names the
/// array.
llvm::Error checkBooleans(const TensorType &type, llvm::ArrayRef<char> bytes,
                          llvm::StringRef what);

/// Reads any supported file. `format`: "idx", "npy", "safetensors"; `key` names
/// the tensor inside a safetensors file (empty: the only one).
llvm::Expected<Array> readArray(llvm::StringRef path, llvm::StringRef format,
                                llvm::StringRef key = "");

/// Returns the type that readArray would return. Only the header is read; the
/// data of a gzipped file are not unpacked.
llvm::Expected<TensorType> peekType(llvm::StringRef path,
                                    llvm::StringRef format,
                                    llvm::StringRef key = "");

} // namespace mp

#endif // MP_RUNTIME_DATA_ARRAY_H
