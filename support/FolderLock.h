//===- FolderLock.h - one process writes a folder ---------------*- C++ -*-===//
#ifndef MP_SUPPORT_FOLDERLOCK_H
#define MP_SUPPORT_FOLDERLOCK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mp {

/// Keeps other processes from writing the same folder for as long as it lives.
/// The system releases it when the process dies, however that happens.
class FolderLock {
public:
  /// Takes the lock file `folder`/.lock. If another process holds it, the error
  /// names that process. On a file system without locks, nothing is locked.
  static llvm::Expected<FolderLock> take(llvm::StringRef folder);
  FolderLock(FolderLock &&other) noexcept;
  FolderLock &operator=(FolderLock &&) = delete;
  /// Removes the file.
  ~FolderLock();

private:
  FolderLock(int descriptor, std::string path)
      : descriptor(descriptor), path(std::move(path)) {}
  int descriptor = -1;
  std::string path;
};

} // namespace mp

#endif // MP_SUPPORT_FOLDERLOCK_H
