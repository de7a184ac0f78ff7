//===- OutputFile.h - files that are written whole or not at all ----------===//
#ifndef MP_SUPPORT_OUTPUTFILE_H
#define MP_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>

namespace mp {

/// A file being written. Every call returns the system's error, unlike a
/// stream, which stops the process on a full disk.
class OutputFile {
public:
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  /// Opens for appending after byte `keep`, and cuts off the rest. Creates a
  /// file that does not exist.
  static llvm::Expected<OutputFile> append(llvm::StringRef path, uint64_t keep);
  /// Makes a new file; an existing one is an error. Messages call it `shownAs`.
  static llvm::Expected<OutputFile> createNew(llvm::StringRef path,
                                              llvm::StringRef shownAs);

  /// Writes all bytes now.
  llvm::Error write(llvm::StringRef bytes);
  /// Writes all bytes, or none if that fails: a reader sees no half of them.
  /// Not for pipes, which have no way back.
  llvm::Error writeWhole(llvm::StringRef bytes);
  /// Replaces bytes that were written.
  llvm::Error overwrite(uint64_t offset, llvm::StringRef bytes);
  /// Forces the file onto the disk.
  llvm::Error sync();
  /// Closes; returns the error of a delayed write.
  llvm::Error close();
  /// Shares the lock of a new file, which lasts until both are closed.
  OutputFile duplicate() const;

private:
  friend class PendingFile;
  OutputFile(int descriptor, llvm::StringRef path)
      : descriptor(descriptor), path(path) {}
  int descriptor = -1;
  std::string path;
};

/// Writes `path` so that a reader sees the old content or the new, also after a
/// crash: a temporary file in the same folder, fsync, rename, fsync of the
/// folder. On an error the old file stays as it was and the temporary is
/// removed. A path that is not a regular file (a pipe, a device) is written
/// directly.
llvm::Error
writeAtomically(llvm::StringRef path,
                llvm::function_ref<llvm::Error(OutputFile &)> writer);

/// A file that code which opens it by itself writes whole or not at all: it
/// writes `name()`, beside the file, and `commit` renames that.
class PendingFile {
public:
  explicit PendingFile(llvm::StringRef path);
  PendingFile(const PendingFile &) = delete;
  /// Removes what was not committed.
  ~PendingFile();

  /// What to write. The path itself if it is not a regular file.
  const std::string &name() const { return temporary; }
  /// Puts what was written on the disk, under the path.
  llvm::Error commit();

private:
  std::string path, temporary;
  std::optional<OutputFile> lock; ///< of the temporary file
};

/// Gives the file `from` another name too, in place of the file `to` if there
/// is one. Fails where the file system has no links.
llvm::Error linkAs(llvm::StringRef from, llvm::StringRef to);

/// Removes the temporary files that dead processes left when they wrote `path`:
/// they were killed before they could rename them. writeAtomically does this
/// too.
void removeAbandoned(llvm::StringRef path);
/// Does the same for all files in the folder whose names begin like that.
void removeAbandonedIn(llvm::StringRef folder, llvm::StringRef beginning);

/// Returns the error that writeAtomically would meet before its first byte, so
/// that long computations fail early; `path` stays as it is.
llvm::Error checkWritable(llvm::StringRef path);

} // namespace mp

#endif // MP_SUPPORT_OUTPUTFILE_H
