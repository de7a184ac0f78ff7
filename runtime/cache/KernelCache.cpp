//===- KernelCache.cpp - compiled kernels kept on disk --------------------===//
#include "runtime/cache/KernelCache.h"
#include "support/Error.h"
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

namespace mp {

/// Must be changed with the layout of an entry, or if the meaning of a source
/// changes without its text.
static constexpr StringLiteral kFormatVersion = "mantissa-2";
/// Kinds of code, which are the ends of file names.
static constexpr StringLiteral kKinds[] = {"o", "cubin"};
static constexpr StringLiteral kPartial = ".partial-";
static constexpr size_t kChecksumBytes = 32;

bool isCacheOff() {
  const char *chosen = std::getenv("MP_CACHE_DIR");
  return chosen && StringRef(chosen) == "off";
}

std::string cacheFolder() {
  if (isCacheOff())
    return "";
  if (const char *chosen = std::getenv("MP_CACHE_DIR"); chosen && *chosen)
    return chosen;
  auto value = [](const char *name) -> StringRef {
    const char *text = std::getenv(name);
    return text ? text : "";
  };
  SmallString<256> folder;
  // The specification says that a relative XDG_CACHE_HOME is to be ignored.
  if (StringRef xdg = value("XDG_CACHE_HOME"); sys::path::is_absolute(xdg))
    sys::path::append(folder, xdg, "mantissa");
  else if (StringRef home = value("HOME"); sys::path::is_absolute(home))
    sys::path::append(folder, home, ".cache", "mantissa");
  return folder.str().str();
}

std::string hashOf(ArrayRef<StringRef> texts) {
  SHA256 hash;
  for (StringRef text : texts) {
    uint8_t size[8];
    support::endian::write64le(size, text.size());
    hash.update(ArrayRef<uint8_t>(size));
    hash.update(text);
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

/// One line per fact.
static std::string textOf(const CodeKey &key) {
  std::string text;
  for (auto &[name, value] : key.facts)
    text += name + "=" + value + "\n";
  return text;
}

static constexpr size_t kDigits = 32; ///< of each of the hashes in a name

/// The beginning of the names of all entries of a source.
static std::string prefixOf(const CodeKey &key) {
  return hashOf({kFormatVersion, key.kind, key.source}).substr(0, kDigits) +
         "-";
}

std::string KernelCache::fileName(const CodeKey &key) {
  return prefixOf(key) + hashOf({textOf(key)}).substr(0, kDigits) + "." +
         key.kind;
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

struct CacheFile {
  std::string name;
  uint64_t bytes;
  timespec used;
};
} // namespace

/// The checksum includes the name, so that a renamed entry is not a hit.
static std::array<uint8_t, kChecksumBytes> checksum(StringRef name,
                                                    StringRef content) {
  SHA256 hash;
  hash.update(name);
  hash.update(content);
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
  // A user who can write an entry chooses what this process runs, and one who
  // made the name a link chooses in which folder it removes old entries.
  struct stat name;
  bool isForeign = lstat(folder.str().c_str(), &name) == 0 &&
                   name.st_uid != geteuid() && name.st_uid != 0;
  if (status.st_uid != geteuid() || isForeign)
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

/// Removes what is under the name of an entry and is none: a damaged file, a
/// link, a pipe, a device, a folder.
void KernelCache::discard(const std::string &name) const {
  bool isGone = unlinkat(directory, name.c_str(), 0) == 0 ||
                unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0;
  std::lock_guard lock(mutex);
  if (damage.empty())
    damage = folder + "/" + name + " is not what was stored there" +
             (isGone ? "" : ", and cannot be removed");
}

std::string KernelCache::firstDamage() const {
  std::lock_guard lock(mutex);
  return damage;
}

/// The content of an entry after its checksum, if that is right.
std::optional<std::string> KernelCache::read(const std::string &name) const {
  // To open a pipe that nobody writes would wait for ever.
  File file(openat(directory, name.c_str(),
                   O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (file.descriptor < 0 && (errno == ELOOP || errno == ENXIO))
    discard(name);
  if (file.descriptor < 0 || fstat(file.descriptor, &status) != 0)
    return std::nullopt;
  std::string bytes;
  bool whole = S_ISREG(status.st_mode) &&
               static_cast<size_t>(status.st_size) > kChecksumBytes &&
               static_cast<uint64_t>(status.st_size) <= limit;
  if (whole) {
    bytes.resize(status.st_size);
    whole = readAll(file.descriptor, bytes.data(), bytes.size());
  }
  StringRef content = StringRef(bytes).drop_front(whole ? kChecksumBytes : 0);
  if (!whole || toStringRef(checksum(name, content)) !=
                    StringRef(bytes).take_front(kChecksumBytes)) {
    discard(name);
    return std::nullopt;
  }
  futimens(file.descriptor, nullptr); // marks it as used, for `trim`
  return content.str();
}

/// An entry's content: the facts, a zero, the code.
std::optional<std::string> KernelCache::find(const CodeKey &key) {
  std::optional<std::string> content = read(fileName(key));
  if (!content)
    return std::nullopt;
  auto [facts, code] = StringRef(*content).split('\0');
  if (facts != textOf(key))
    return std::nullopt;
  return code.str();
}

/// Writes a file of the folder whole or not at all.
Error KernelCache::write(const std::string &name, ArrayRef<StringRef> pieces) {
  static std::atomic<unsigned> counter = 0;
  std::string temporary =
      formatv("{0}{1}-{2}", kPartial, getpid(), counter.fetch_add(1));
  int error = 0;
  {
    // A file that a dead process of the same number left is of no use.
    unlinkat(directory, temporary.c_str(), 0);
    File file(openat(directory, temporary.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                     0600));
    if (file.descriptor < 0)
      return makeSystemError("write", folder + "/" + temporary, errno);
    if (!llvm::all_of(pieces, [&](StringRef piece) {
          return writeAll(file.descriptor, piece);
        }))
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
  // Files are counted at the first one, and again whenever a sixteenth of the
  // limit has been written.
  if (written == 0 || written > limit / 16) {
    trim();
    written = 0;
  }
  for (StringRef piece : pieces)
    written += piece.size();
  return Error::success();
}

Error KernelCache::store(const CodeKey &key, StringRef code) {
  std::string name = fileName(key);
  std::string content = textOf(key) + '\0' + code.str();
  return write(name, {toStringRef(checksum(name, content)), content});
}

Expected<std::string> KernelCache::keepSource(const CodeKey &key) {
  std::string name = sys::path::stem(fileName(key)).str() + ".cu";
  if (Error error = write(name, {key.source}))
    return error;
  return folder + "/" + name;
}

/// The files of the cache that satisfy `wanted`.
template <typename Wanted>
static std::vector<CacheFile> listEntries(int directory, Wanted wanted) {
  std::vector<CacheFile> entries;
  // The folder is opened anew, since copies of a descriptor share its position.
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

/// Whether a file is an entry of the kind, or of any kind for "".
static bool isEntry(StringRef name, StringRef kind = "") {
  return llvm::any_of(kKinds, [&](StringRef each) {
    return (kind.empty() || kind == each) && name.ends_with(("." + each).str());
  });
}

KernelCache::Usage KernelCache::usage(StringRef kind) const {
  Usage usage;
  for (const CacheFile &entry : listEntries(
           directory, [&](StringRef name) { return isEntry(name, kind); })) {
    ++usage.entries;
    usage.bytes += entry.bytes;
  }
  return usage;
}

/// "LLVM '22.1.7', and this is '22.1.8'" for each fact that differs.
static std::string differences(StringRef before, StringRef now) {
  std::string text;
  while (!before.empty() || !now.empty()) {
    auto [oldFact, oldRest] = before.split('\n');
    auto [newFact, newRest] = now.split('\n');
    before = oldRest, now = newRest;
    if (oldFact == newFact)
      continue;
    auto [oldName, oldValue] = oldFact.split('=');
    text += formatv("{0}{1} '{2}', and this is '{3}'", text.empty() ? "" : "; ",
                    oldName, oldValue, newFact.split('=').second);
  }
  return text;
}

std::string KernelCache::explainMiss(const CodeKey &key) const {
  std::string prefix = prefixOf(key), nearest;
  for (const CacheFile &entry : listEntries(directory, [&](StringRef name) {
         return name.starts_with(prefix) && isEntry(name, key.kind);
       })) {
    std::optional<std::string> content = read(entry.name);
    if (!content)
      continue;
    std::string text =
        differences(StringRef(*content).split('\0').first, textOf(key));
    // Among several entries, prefer the one with the fewest differences.
    if (nearest.empty() || text.size() < nearest.size())
      nearest = text;
  }
  return nearest.empty() ? "new" : "known with " + nearest;
}

/// Drops the entries used longest ago until three quarters of the limit are
/// left, and what writers that died left over.
void KernelCache::trim() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  constexpr time_t hour = 3600;
  for (const CacheFile &entry : listEntries(directory, [](StringRef name) {
         return name.starts_with(kPartial);
       }))
    if (now.tv_sec - entry.used.tv_sec > hour)
      unlinkat(directory, entry.name.c_str(), 0);
  std::vector<CacheFile> entries = listEntries(directory, [](StringRef name) {
    return isEntry(name) || name.ends_with(".cu");
  });
  uint64_t bytes = 0;
  for (const CacheFile &entry : entries)
    bytes += entry.bytes;
  if (bytes <= limit)
    return;
  llvm::sort(entries, [](const CacheFile &a, const CacheFile &b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) <
           std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  for (const CacheFile &entry : entries) {
    if (bytes <= limit / 4 * 3)
      return;
    if (unlinkat(directory, entry.name.c_str(), 0) == 0)
      bytes -= entry.bytes;
  }
}

} // namespace mp
