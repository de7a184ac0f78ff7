//===- ByteSource.h - a file read in order, unpacked where gzipped --------===//
#ifndef MP_RUNTIME_DATA_BYTESOURCE_H
#define MP_RUNTIME_DATA_BYTESOURCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace mp {

/// Reads the content of a file from the first byte to the last; a reader never
/// unpacks more than it asks for, so a small file cannot claim a huge memory.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// Fills `bytes` or fails: the file ends too early, or is damaged.
  virtual llvm::Error read(llvm::MutableArrayRef<char> bytes) = 0;
  /// An error unless the content ends here.
  virtual llvm::Error expectEnd() = 0;
};

/// `content` stays in use; `path` is for messages. Gzip is told by its magic
/// number, not by the file's name.
std::unique_ptr<ByteSource> openBytes(llvm::StringRef content,
                                      llvm::StringRef path);
bool isGzip(llvm::StringRef content);

} // namespace mp

#endif // MP_RUNTIME_DATA_BYTESOURCE_H
