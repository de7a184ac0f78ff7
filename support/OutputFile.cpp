//===- OutputFile.cpp - files that are written whole or not at all --------===//
#include "support/OutputFile.h"
#include "support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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
  while (true) {
    int descriptor = ::open(path.str().c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
      return makeSystemError("write", shownAs, errno);
    OutputFile file(descriptor, shownAs);
    // The lock tells others that this process is writing. Who came in between
    // took the file for abandoned, and has removed it.
    while (::flock(descriptor, LOCK_EX) != 0 && errno == EINTR)
      ;
    struct stat status;
    if (::fstat(descriptor, &status) != 0 || status.st_nlink > 0)
      return file;
  }
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

OutputFile OutputFile::duplicate() const {
  return OutputFile(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0), path);
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

static Error writeTemporary(OutputFile file,
                            function_ref<Error(OutputFile &)> writer) {
  if (Error error = writer(file))
    return error;
  if (Error error = file.sync())
    return error;
  return file.close();
}

/// Whether `path` is a pipe, a device or a folder.
static bool isSpecial(StringRef path) {
  return sys::fs::exists(path) && !sys::fs::is_regular_file(path);
}

static constexpr StringLiteral kTemporaryMark = ".tmp.";

/// Removes a temporary file that no process is writing: it would hold a lock.
/// In a shared folder, the number in the name may be that of a process of
/// another machine or container, so it says nothing.
static void removeIfAbandoned(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0)
    return;
  // A writer that has the file open, and waits for the lock, sees then that its
  // name is gone.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    ::unlink(path.c_str());
  ::close(descriptor);
}

/// The name of the file that a temporary one is written for; "" if `name` is
/// not that of a temporary file.
static StringRef finalName(StringRef name) {
  auto [file, rest] = name.rsplit(kTemporaryMark);
  pid_t pid = 0;
  unsigned number = 0;
  bool isTemporary = !rest.consumeInteger(10, pid) && pid > 0 &&
                     (rest.empty() || (rest.consume_front(".") &&
                                       !rest.getAsInteger(10, number)));
  return isTemporary ? file : "";
}

static void removeAbandonedIf(StringRef folder,
                              function_ref<bool(StringRef)> isOurs) {
  std::error_code code;
  for (sys::fs::directory_iterator it(folder.empty() ? "." : folder, code), end;
       it != end && !code; it.increment(code))
    if (StringRef name = finalName(sys::path::filename(it->path()));
        !name.empty() && isOurs(name))
      removeIfAbandoned(it->path());
}

void removeAbandoned(StringRef path) {
  removeAbandonedIf(sys::path::parent_path(path), [&](StringRef name) {
    return name == sys::path::filename(path);
  });
}

void removeAbandonedIn(StringRef folder, StringRef beginning) {
  removeAbandonedIf(
      folder, [&](StringRef name) { return name.starts_with(beginning); });
}

/// Makes a file beside `path`, with a name of its own: two threads, or two
/// containers with processes of one number, may write to one path.
static Expected<OutputFile> createTemporary(StringRef path, std::string &name) {
  static std::atomic<unsigned> count = 0;
  removeAbandoned(path);
  while (true) {
    name = (path + kTemporaryMark + Twine(::getpid()) + "." + Twine(count++))
               .str();
    Expected<OutputFile> file = OutputFile::createNew(name, path);
    if (file)
      return file;
    std::error_code code = errorToErrorCode(file.takeError());
    if (code != std::errc::file_exists)
      return makeSystemError("write", path, code.value());
  }
}

Error checkWritable(StringRef path) {
  if (sys::fs::is_directory(path))
    return makeSystemError("write", path, EISDIR);
  // Opening a pipe would tell its reader that it is at its end.
  if (isSpecial(path))
    return ::access(path.str().c_str(), W_OK) == 0
               ? Error::success()
               : makeSystemError("write", path, errno);
  std::string temporary;
  Expected<OutputFile> file = createTemporary(path, temporary);
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

PendingFile::PendingFile(StringRef path) : path(path), temporary(path) {
  if (isSpecial(path))
    return;
  // The file exists already when other code opens it, and is locked. If it
  // cannot be made, that code says so.
  Expected<OutputFile> file = createTemporary(path, temporary);
  if (file)
    lock.emplace(std::move(*file));
  else
    consumeError(file.takeError());
}

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
  // The link takes the name of the file that is there to keep it.
  if (file.name() != to)
    ::unlink(file.name().c_str());
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
  std::string temporary;
  Expected<OutputFile> file = createTemporary(path, temporary);
  if (!file)
    return file.takeError();
  // Nobody may take the file for abandoned before it has its name.
  OutputFile lock = file->duplicate();
  if (Error error = writeTemporary(std::move(*file), writer)) {
    ::unlink(temporary.c_str());
    return error;
  }
  return replaceBy(temporary, path);
}

} // namespace mp
