//===- MappedFile.cpp - a file that is read where it lies -----------------===//
#include "runtime/data/MappedFile.h"
#include "support/Error.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

using namespace llvm;

namespace mp {

char FileChanged::ID = 0;

static Error systemError(StringRef path) {
  std::error_code code(errno, std::generic_category());
  return makeError("{0}: {1}", path, code.message());
}

Expected<std::shared_ptr<const MappedFile>> MappedFile::open(StringRef path) {
  std::shared_ptr<MappedFile> file(new MappedFile(path));
  // A pipe that has taken the file's place must not be waited for.
  file->descriptor =
      ::open(file->name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->descriptor < 0 || ::fstat(file->descriptor, &file->opened) != 0)
    return systemError(path);
  if (!S_ISREG(file->opened.st_mode))
    return makeError("{0}: expected a regular file", path);
  bool isSmall = static_cast<size_t>(file->opened.st_size) <= kCopied;
  if (Error error = isSmall ? file->copy() : file->map())
    return error;
  return file;
}

MappedFile::~MappedFile() {
  guard.reset();
  if (copied.empty() && !content.empty())
    ::munmap(const_cast<char *>(content.data()), content.size());
  if (descriptor >= 0)
    ::close(descriptor);
}

Error MappedFile::map() {
  size_t bytes = opened.st_size;
  void *address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED)
    return systemError(name);
  content = {static_cast<char *>(address), bytes};
  if (auto range = GuardedRange::add(content.data(), bytes)) {
    guard.emplace(std::move(*range));
    return Error::success();
  }
  ::munmap(address, bytes);
  content = {};
  return copy();
}

Error MappedFile::copy() {
  copied.resize(opened.st_size);
  for (size_t done = 0; done < copied.size();) {
    ssize_t got =
        ::read(descriptor, copied.data() + done, copied.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return systemError(name);
    if (got == 0)
      return make_error<FileChanged>(name + ": has shrunk while it was read");
    done += got;
  }
  ::close(std::exchange(descriptor, -1));
  content = {copied.data(), copied.size()};
  return Error::success();
}

Error MappedFile::check() const {
  if (!guard)
    return Error::success();
  struct stat now = {};
  if (::fstat(descriptor, &now) != 0)
    return systemError(name);
  auto changed = [&](const std::string &how) {
    return make_error<FileChanged>(name +
                                   ": has changed since it was opened: " + how);
  };
  if (now.st_size != opened.st_size)
    return changed(formatv("it has {0} bytes now, and had {1}", now.st_size,
                           opened.st_size));
  if (now.st_mtim.tv_sec != opened.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != opened.st_mtim.tv_nsec)
    return changed("it was written to");
  if (guard->failed())
    return make_error<FileChanged>(
        name + ": a part of it cannot be read, or could not for a while");
  return Error::success();
}

bool MappedFile::isReplaced() const {
  struct stat now = {};
  return guard && (::stat(name.c_str(), &now) != 0 ||
                   now.st_dev != opened.st_dev || now.st_ino != opened.st_ino);
}

} // namespace mp
