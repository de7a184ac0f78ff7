//===- ByteSource.h - a file read in order, unpacked where gzipped --------===//
#ifndef MP_RUNTIME_DATA_BYTESOURCE_H
#define MP_RUNTIME_DATA_BYTESOURCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace mp {

/// Reads the content of a file from the first byte to the last. It unpacks only
/// what is read, so that a small file cannot claim huge memory.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// Fills `bytes`. Errors: the file ends too early, or is damaged.
  virtual llvm::Error read(llvm::MutableArrayRef<char> bytes) = 0;
  /// An error unless the content ends here.
  virtual llvm::Error expectEnd() = 0;
};

/// `content` must stay valid; `path` is for messages. Gzip is recognized by its
/// magic number, not by the file's name.
std::unique_ptr<ByteSource> openBytes(llvm::StringRef content,
                                      llvm::StringRef path);
bool isGzip(llvm::StringRef content);

} // namespace mp

#endif // MP_RUNTIME_DATA_BYTESOURCE_H
