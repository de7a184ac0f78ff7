//===- OutputFile.h - files that are written whole or not at all ----------===//
#ifndef MP_SUPPORT_OUTPUTFILE_H
#define MP_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace mp {

/// A file being written. Every call returns what the system says, unlike a
/// stream, which stops the process on a full disk.
class OutputFile {
public:
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  /// Opens for appending after byte `keep`; what lay behind is cut off. A file
  /// that does not exist is made.
  static llvm::Expected<OutputFile> append(llvm::StringRef path, uint64_t keep);
  /// Makes a new file; an existing one is an error. Messages call it `shownAs`.
  static llvm::Expected<OutputFile> createNew(llvm::StringRef path,
                                              llvm::StringRef shownAs);

  /// Writes all bytes now.
  llvm::Error write(llvm::StringRef bytes);
  /// Forces the file onto the disk.
  llvm::Error sync();
  /// Closes; the error of a delayed write comes here.
  llvm::Error close();

private:
  OutputFile(int descriptor, llvm::StringRef path)
      : descriptor(descriptor), path(path) {}
  int descriptor = -1;
  std::string path;
};

/// Writes `path` so that whoever opens it sees the old content or the new, also
/// after a crash: a temporary file in the same folder, fsync, rename, fsync of
/// the folder. On an error the old file stays as it was and the temporary is
/// removed. What is no regular file (a pipe, a device) is written straight.
llvm::Error
writeAtomically(llvm::StringRef path,
                llvm::function_ref<llvm::Error(OutputFile &)> writer);

/// Removes what processes that are gone left of writing `path`: they were
/// killed before they could rename their temporary file. writeAtomically does
/// so too.
void removeAbandoned(llvm::StringRef path);

/// The error that writeAtomically would meet before its first byte, for what
/// takes long to find out; `path` stays as it is.
llvm::Error checkWritable(llvm::StringRef path);

} // namespace mp

#endif // MP_SUPPORT_OUTPUTFILE_H
