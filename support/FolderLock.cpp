//===- FolderLock.cpp - one process writes a folder -----------------------===//
#include "support/FolderLock.h"
#include "support/Error.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace mp {

FolderLock::FolderLock(FolderLock &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)),
      path(std::move(other.path)) {}

FolderLock::~FolderLock() {
  if (descriptor < 0)
    return;
  ::unlink(path.c_str());
  ::close(descriptor);
}

/// "process 1234 on host"
static std::string self() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return formatv("process {0} on {1}", ::getpid(), host).str();
}

/// The content of the lock file: who holds it.
static std::string holderOf(int descriptor) {
  char text[512];
  ssize_t size = ::pread(descriptor, text, sizeof text, 0);
  return size > 0 ? withoutControls(StringRef(text, size).trim())
                  : "another process";
}

/// Whether the path still names the open file, which the process that held the
/// lock before may have removed.
static bool isCurrent(int descriptor, const std::string &path) {
  struct stat ours, there;
  return ::fstat(descriptor, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

Expected<FolderLock> FolderLock::take(StringRef folder) {
  SmallString<256> file(folder);
  sys::path::append(file, ".lock");
  std::string path = file.str().str();
  while (true) {
    int descriptor =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0)
      return makeSystemError("write", path, errno);
    FolderLock lock(descriptor, path);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      bool isTaken = errno == EWOULDBLOCK;
      std::string holder = holderOf(descriptor);
      // What is another's is not removed.
      ::close(std::exchange(lock.descriptor, -1));
      if (isTaken)
        return makeError("{0} is being written by {1}", folder, holder);
      return lock;
    }
    if (!isCurrent(descriptor, path)) {
      ::close(std::exchange(lock.descriptor, -1));
      continue;
    }
    std::string text = self() + "\n";
    // Who holds the lock is for messages alone.
    if (::ftruncate(descriptor, 0) == 0)
      (void)!::pwrite(descriptor, text.data(), text.size(), 0);
    return lock;
  }
}

} // namespace mp
