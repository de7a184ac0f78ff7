//===- MappedFile.h - a file that is read where it lies ---------*- C++ -*-===//
#ifndef MP_RUNTIME_DATA_MAPPEDFILE_H
#define MP_RUNTIME_DATA_MAPPEDFILE_H

#include "runtime/data/BusErrors.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace mp {

/// The error of a file that is not, or may not be, what it was when it was
/// opened.
class FileChanged : public llvm::ErrorInfo<FileChanged> {
public:
  static char ID;
  explicit FileChanged(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string text;
};

/// The bytes of a regular file. A small file is copied. A larger one is mapped,
/// since a copy would take as much memory again, and its bytes may change as
/// long as it is open: whoever has used them calls `check` afterwards.
class MappedFile {
public:
  /// Files of up to this size are copied.
  static constexpr size_t kCopied = size_t(64) << 10;

  /// Errors are of the form "path: No such file or directory".
  static llvm::Expected<std::shared_ptr<const MappedFile>>
  open(llvm::StringRef path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;

  llvm::StringRef getBuffer() const { return content; }
  const std::string &path() const { return name; }

  /// Fails with FileChanged if bytes that were read before this call may be
  /// other ones than those of the file that was opened: by its size, the time
  /// of its last change, and whether it could be read. From any thread; takes a
  /// system call, and never fails for a file that was copied.
  llvm::Error check() const;
  /// Whether there is another file, or none, under this name now. The bytes are
  /// still those of the file that was opened.
  bool isReplaced() const;

private:
  explicit MappedFile(llvm::StringRef path) : name(path) {}
  llvm::Error map();
  llvm::Error copy();

  std::string name;
  int descriptor = -1; ///< open as long as the file is mapped
  struct stat opened = {};
  llvm::StringRef content;
  std::vector<char> copied;
  std::optional<GuardedRange> guard;
};

/// Returns what was made of a file's bytes, or that they have changed while it
/// was made; that explains an error, too.
template <typename T>
llvm::Expected<T> unlessChanged(const MappedFile &file,
                                llvm::Expected<T> result) {
  llvm::Error changed = file.check();
  if (!changed)
    return result;
  if (!result)
    llvm::consumeError(result.takeError());
  return std::move(changed);
}

} // namespace mp

#endif // MP_RUNTIME_DATA_MAPPEDFILE_H
