//===- KernelCache.cpp - compiled kernels kept on disk --------------------===//
#include "runtime/cuda/KernelCache.h"
#include "runtime/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include <atomic>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace mp::cuda {

/// To be changed with the layout of an entry, or where what our headers and
/// sources mean changes without their text.
static constexpr StringLiteral formatVersion = "mantissa-cuda-1";
static constexpr StringLiteral suffix = ".cubin";
static constexpr StringLiteral partial = ".partial-";
static constexpr size_t checksumBytes = 32;

std::string cacheFolder() {
  if (const char *chosen = std::getenv("MP_CACHE_DIR"); chosen && *chosen)
    return StringRef(chosen) == "off" ? "" : chosen;
  auto value = [](const char *name) -> StringRef {
    const char *text = std::getenv(name);
    return text ? text : "";
  };
  SmallString<256> folder;
  // A relative XDG_CACHE_HOME is to be ignored, says its specification.
  if (StringRef xdg = value("XDG_CACHE_HOME"); sys::path::is_absolute(xdg))
    sys::path::append(folder, xdg, "mantissa");
  else if (StringRef home = value("HOME"); sys::path::is_absolute(home))
    sys::path::append(folder, home, ".cache", "mantissa");
  return folder.str().str();
}

std::string cacheKey(StringRef source, ArrayRef<Header> headers,
                     ArrayRef<std::string> options, StringRef compiler,
                     StringRef architecture) {
  SHA256 hash;
  // With its length before it, no text can pass for two others.
  auto add = [&](StringRef text) {
    uint8_t size[8];
    support::endian::write64le(size, text.size());
    hash.update(ArrayRef<uint8_t>(size));
    hash.update(text);
  };
  for (StringRef text :
       {StringRef(formatVersion), source, compiler, architecture})
    add(text);
  for (const std::string &option : options)
    add(option);
  for (const Header &header : headers) {
    add(header.name);
    add(header.text);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

namespace {
/// Closes a file on every path.
struct File {
  int descriptor;
  explicit File(int descriptor) : descriptor(descriptor) {}
  File(const File &) = delete;
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
};

struct Entry {
  std::string name;
  uint64_t bytes;
  timespec used;
};
} // namespace

/// The key goes in, so that an entry under a wrong name is no hit.
static std::array<uint8_t, checksumBytes> checksum(StringRef key,
                                                   StringRef value) {
  SHA256 hash;
  hash.update(key);
  hash.update(value);
  return hash.final();
}

static Error makeFolder(StringRef folder) {
  StringRef parent = sys::path::parent_path(folder);
  if (!parent.empty())
    if (std::error_code code = sys::fs::create_directories(parent))
      return makeError("cannot make {0}: {1}", parent, code.message());
  if (mkdir(folder.str().c_str(), 0700) != 0 && errno != EEXIST)
    return makeSystemError("make", folder, errno);
  return Error::success();
}

Expected<std::unique_ptr<KernelCache>> KernelCache::open(StringRef folder,
                                                         uint64_t limit) {
  if (Error error = makeFolder(folder))
    return error;
  int directory =
      ::open(folder.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return makeSystemError("open", folder, errno);
  std::unique_ptr<KernelCache> cache(
      new KernelCache(directory, folder.str(), limit));
  struct stat status;
  if (fstat(directory, &status) != 0)
    return makeSystemError("open", folder, errno);
  // Whoever can write an entry chooses what this process runs on the device.
  if (status.st_uid != geteuid())
    return makeError("{0} belongs to another user", folder);
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return makeError("{0} can be written by others", folder);
  return cache;
}

KernelCache::~KernelCache() { close(directory); }

static bool readAll(int descriptor, char *to, size_t bytes) {
  while (bytes) {
    ssize_t count = read(descriptor, to, bytes);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    to += count;
    bytes -= count;
  }
  return true;
}

static bool writeAll(int descriptor, StringRef text) {
  while (!text.empty()) {
    ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    text = text.drop_front(count);
  }
  return true;
}

std::optional<std::string> KernelCache::find(StringRef key) {
  std::string name = (key + suffix).str();
  File file(openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status;
  if (file.descriptor < 0 || fstat(file.descriptor, &status) != 0)
    return std::nullopt;
  std::string bytes;
  bool whole = S_ISREG(status.st_mode) &&
               static_cast<size_t>(status.st_size) > checksumBytes &&
               static_cast<uint64_t>(status.st_size) <= limit;
  if (whole) {
    bytes.resize(status.st_size);
    whole = readAll(file.descriptor, bytes.data(), bytes.size());
  }
  StringRef value = StringRef(bytes).drop_front(whole ? checksumBytes : 0);
  if (!whole || toStringRef(checksum(key, value)) !=
                    StringRef(bytes).take_front(checksumBytes)) {
    unlinkat(directory, name.c_str(), 0);
    return std::nullopt;
  }
  futimens(file.descriptor, nullptr); // it has been used now
  return value.str();
}

Error KernelCache::store(StringRef key, StringRef value) {
  static std::atomic<unsigned> counter = 0;
  std::string name = (key + suffix).str();
  std::string temporary =
      formatv("{0}{1}-{2}", partial, getpid(), counter.fetch_add(1));
  int error = 0;
  {
    // What a process of the same number left behind is of no use to anybody.
    unlinkat(directory, temporary.c_str(), 0);
    File file(openat(directory, temporary.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                     0600));
    if (file.descriptor < 0)
      return makeSystemError("write", folder + "/" + temporary, errno);
    if (!writeAll(file.descriptor, toStringRef(checksum(key, value))) ||
        !writeAll(file.descriptor, value) || fsync(file.descriptor) != 0)
      error = errno;
  }
  if (!error &&
      renameat(directory, temporary.c_str(), directory, name.c_str()) != 0)
    error = errno;
  if (error) {
    unlinkat(directory, temporary.c_str(), 0);
    return makeSystemError("write", folder + "/" + name, error);
  }
  std::lock_guard lock(mutex);
  // Entries are counted at the first one and then now and again.
  if (written == 0 || written > limit / 16) {
    trim();
    written = 0;
  }
  written += checksumBytes + value.size();
  return Error::success();
}

/// The files of the cache that `wanted` takes.
template <typename Wanted>
static std::vector<Entry> listEntries(int directory, Wanted wanted) {
  std::vector<Entry> entries;
  // A stream of its own: a descriptor's position is shared with its copies.
  int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = copy < 0 ? nullptr : fdopendir(copy);
  if (!stream) {
    if (copy >= 0)
      close(copy);
    return entries;
  }
  while (dirent *item = readdir(stream)) {
    struct stat status;
    if (wanted(StringRef(item->d_name)) &&
        fstatat(directory, item->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
      entries.push_back({item->d_name, static_cast<uint64_t>(status.st_size),
                         status.st_mtim});
  }
  closedir(stream);
  return entries;
}

static bool isEntry(StringRef name) { return name.ends_with(suffix); }

KernelCache::Usage KernelCache::usage() const {
  Usage usage;
  for (const Entry &entry : listEntries(directory, isEntry)) {
    ++usage.entries;
    usage.bytes += entry.bytes;
  }
  return usage;
}

/// Drops what was used longest ago until three quarters of the limit are left,
/// and what writers that died left behind.
void KernelCache::trim() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  constexpr time_t hour = 3600;
  for (const Entry &entry : listEntries(
           directory, [](StringRef name) { return name.starts_with(partial); }))
    if (now.tv_sec - entry.used.tv_sec > hour)
      unlinkat(directory, entry.name.c_str(), 0);
  std::vector<Entry> entries = listEntries(directory, isEntry);
  uint64_t bytes = 0;
  for (const Entry &entry : entries)
    bytes += entry.bytes;
  if (bytes <= limit)
    return;
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) <
           std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  for (const Entry &entry : entries) {
    if (bytes <= limit / 4 * 3)
      return;
    if (unlinkat(directory, entry.name.c_str(), 0) == 0)
      bytes -= entry.bytes;
  }
}

} // namespace mp::cuda
