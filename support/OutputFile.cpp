//===- OutputFile.cpp - files that are written whole or not at all --------===//
#include "support/OutputFile.h"
#include "support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace llvm;

namespace mp {

OutputFile::OutputFile(OutputFile &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)),
      path(std::move(other.path)) {}

OutputFile::~OutputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Expected<OutputFile> OutputFile::append(StringRef path, uint64_t keep) {
  int descriptor = ::open(path.str().c_str(),
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return makeSystemError("write", path, errno);
  OutputFile file(descriptor, path);
  // A pipe or a device has nothing to cut off.
  if (::ftruncate(descriptor, keep) != 0 && errno != EINVAL)
    return makeSystemError("truncate", path, errno);
  return file;
}

Expected<OutputFile> OutputFile::createNew(StringRef path, StringRef shownAs) {
  int descriptor =
      ::open(path.str().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return makeSystemError("write", shownAs, errno);
  // The lock tells others that this process is writing; without locks, the pid
  // does.
  (void)::flock(descriptor, LOCK_EX | LOCK_NB);
  return OutputFile(descriptor, shownAs);
}

/// Calls `write` with what is left until nothing is.
static Error writeAll(StringRef bytes, StringRef path,
                      function_ref<ssize_t(StringRef)> write) {
  while (!bytes.empty()) {
    ssize_t written = write(bytes);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return makeSystemError("write", path, errno);
    bytes = bytes.drop_front(written);
  }
  return Error::success();
}

Error OutputFile::write(StringRef bytes) {
  return writeAll(bytes, path, [&](StringRef rest) {
    return ::write(descriptor, rest.data(), rest.size());
  });
}

Error OutputFile::writeWhole(StringRef bytes) {
  off_t end = ::lseek(descriptor, 0, SEEK_END);
  Error error = write(bytes);
  if (error && end >= 0)
    (void)!::ftruncate(descriptor, end);
  return error;
}

Error OutputFile::overwrite(uint64_t offset, StringRef bytes) {
  uint64_t end = offset + bytes.size();
  return writeAll(bytes, path, [&](StringRef rest) {
    return ::pwrite(descriptor, rest.data(), rest.size(), end - rest.size());
  });
}

Error OutputFile::sync() {
  if (::fsync(descriptor) != 0)
    return makeSystemError("write", path, errno);
  return Error::success();
}

Error OutputFile::close() {
  if (::close(std::exchange(descriptor, -1)) != 0)
    return makeSystemError("write", path, errno);
  return Error::success();
}

/// Makes a rename in the folder survive a power cut.
static Error syncFolder(StringRef path) {
  SmallString<128> folder = sys::path::parent_path(path);
  if (folder.empty())
    folder = ".";
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return makeSystemError("open", folder, errno);
  // Some file systems cannot sync a folder and return EINVAL; nothing more can
  // be done there.
  bool failed = ::fsync(descriptor) != 0 && errno != EINVAL;
  int code = errno;
  ::close(descriptor);
  return failed ? makeSystemError("write", folder, code) : Error::success();
}

static Error writeTemporary(StringRef temporary, StringRef path,
                            function_ref<Error(OutputFile &)> writer) {
  Expected<OutputFile> file = OutputFile::createNew(temporary, path);
  if (!file)
    return file.takeError();
  if (Error error = writer(*file))
    return error;
  if (Error error = file->sync())
    return error;
  return file->close();
}

/// Whether `path` is a pipe, a device or a folder.
static bool isSpecial(StringRef path) {
  return sys::fs::exists(path) && !sys::fs::is_regular_file(path);
}

static constexpr StringLiteral kTemporaryMark = ".tmp.";

/// Whether no process is writing the temporary file of process `pid`. In a
/// shared folder, that may be a process of another machine or container, which
/// is not visible here: it holds a lock on the file.
static bool isAbandoned(const std::string &path, pid_t pid) {
  if (::kill(pid, 0) == 0 || errno != ESRCH)
    return false;
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0)
    return false;
  bool isFree = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return isFree;
}

void removeAbandoned(StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  std::string start = (sys::path::filename(path) + kTemporaryMark).str();
  std::error_code code;
  for (sys::fs::directory_iterator it(folder.empty() ? "." : folder, code), end;
       it != end && !code; it.increment(code)) {
    StringRef name = sys::path::filename(it->path());
    pid_t pid = 0;
    unsigned number = 0;
    if (name.consume_front(start) && !name.consumeInteger(10, pid) && pid > 0 &&
        (name.empty() ||
         (name.consume_front(".") && !name.getAsInteger(10, number))) &&
        isAbandoned(it->path(), pid))
      ::unlink(it->path().c_str());
  }
}

/// Each file has a name of its own: two threads may write to one path. A file
/// that has this one already can only be left over from a dead process.
static std::string temporaryName(StringRef path) {
  static std::atomic<unsigned> count = 0;
  removeAbandoned(path);
  std::string name =
      (path + kTemporaryMark + Twine(::getpid()) + "." + Twine(count++)).str();
  ::unlink(name.c_str());
  return name;
}

Error checkWritable(StringRef path) {
  if (sys::fs::is_directory(path))
    return makeSystemError("write", path, EISDIR);
  // Opening a pipe would tell its reader that it is at its end.
  if (isSpecial(path))
    return ::access(path.str().c_str(), W_OK) == 0
               ? Error::success()
               : makeSystemError("write", path, errno);
  std::string temporary = temporaryName(path);
  Expected<OutputFile> file = OutputFile::createNew(temporary, path);
  if (!file)
    return file.takeError();
  ::unlink(temporary.c_str());
  return file->close();
}

/// Puts a temporary file, which is on the disk, in the place of `path`.
static Error replaceBy(StringRef temporary, StringRef path) {
  if (::rename(temporary.str().c_str(), path.str().c_str()) != 0) {
    int code = errno;
    ::unlink(temporary.str().c_str());
    return makeSystemError("write", path, code);
  }
  return syncFolder(path);
}

PendingFile::PendingFile(StringRef path)
    : path(path),
      temporary(isSpecial(path) ? path.str() : temporaryName(path)) {}

PendingFile::~PendingFile() {
  if (temporary != path)
    ::unlink(temporary.c_str());
}

Error PendingFile::commit() {
  if (temporary == path)
    return Error::success();
  int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0)
    return makeSystemError("write", path, errno);
  OutputFile file(descriptor, path);
  if (Error error = file.sync())
    return error;
  if (Error error = file.close())
    return error;
  return replaceBy(temporary, path);
}

Error linkAs(StringRef from, StringRef to) {
  PendingFile file(to);
  if (std::error_code failed = sys::fs::create_hard_link(from, file.name()))
    return makeError("cannot link {0} as {1}: {2}", from, to, failed.message());
  return file.commit();
}

Error writeAtomically(StringRef path,
                      function_ref<Error(OutputFile &)> writer) {
  if (isSpecial(path)) {
    Expected<OutputFile> file = OutputFile::append(path, 0);
    if (!file)
      return file.takeError();
    return writer(*file);
  }
  std::string temporary = temporaryName(path);
  if (Error error = writeTemporary(temporary, path, writer)) {
    ::unlink(temporary.c_str());
    return error;
  }
  return replaceBy(temporary, path);
}

} // namespace mp
