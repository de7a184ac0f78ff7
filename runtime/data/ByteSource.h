//===- ByteSource.h - a file read in order, unpacked where gzipped --------===//
#ifndef MP_RUNTIME_DATA_BYTESOURCE_H
#define MP_RUNTIME_DATA_BYTESOURCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace mp {

/// Reads the content of a file from the first byte to the last. No more is
/// unpacked than a reader asks for, so a small file cannot take a huge amount
/// of memory.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// Fills `bytes`. Errors: the file ends too early, or is damaged.
  virtual llvm::Error read(llvm::MutableArrayRef<char> bytes) = 0;
  /// Fails unless the content ends here.
  virtual llvm::Error expectEnd() = 0;
};

/// `content` must outlive the source. `path` is for messages. Gzip is detected
/// by its magic number, not by the name of the file.
std::unique_ptr<ByteSource> openBytes(llvm::StringRef content,
                                      llvm::StringRef path);
bool isGzip(llvm::StringRef content);

} // namespace mp

#endif // MP_RUNTIME_DATA_BYTESOURCE_H
