//===- KernelCache.h - compiled kernels kept on disk ----------------------===//
//
// One entry is one file, named by the key: a hash of the source and one of the
// facts. An entry is written under another name and renamed, so that a reader
// sees all of it or nothing. A checksum turns what a crash or a full disk left
// half written into a miss, so writing need not wait for the disk. A cache
// never breaks a run: what cannot be read is a miss, and what cannot be written
// is not kept.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CACHE_KERNELCACHE_H
#define MP_RUNTIME_CACHE_KERNELCACHE_H

#include "program/CodeStore.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <mutex>

namespace mp {

/// Returns the folder of the cache: MP_CACHE_DIR, else
/// $XDG_CACHE_HOME/mantissa, else ~/.cache/mantissa. Empty if MP_CACHE_DIR is
/// "off" or none is known.
std::string cacheFolder();
/// Returns whether MP_CACHE_DIR is "off".
bool isCacheOff();

/// Returns the 64 hexadecimal digits of SHA-256 over texts, each preceded by
/// its length, so that no text has the hash of two others.
std::string hashOf(llvm::ArrayRef<llvm::StringRef> texts);

/// A folder of compiled kernels, shared with other processes. Thread-safe.
class KernelCache {
public:
  struct Usage {
    uint64_t entries = 0, bytes = 0;
  };
  static constexpr uint64_t defaultLimit = uint64_t(1) << 30;

  /// Creates the folder (0700) if it is missing. Errors: it cannot be created
  /// or opened, belongs to another user, or others may write to it. `limit`
  /// bounds the bytes of all entries; the least recently used ones are removed.
  static llvm::Expected<std::unique_ptr<KernelCache>>
  open(llvm::StringRef folder, uint64_t limit = defaultLimit);
  ~KernelCache();

  /// Returns the code of a key, or nothing if there is no entry or a damaged
  /// one, which is removed.
  std::optional<std::string> find(const CodeKey &key);
  /// Stores code. If this fails, no file is left.
  llvm::Error store(const CodeKey &key, llvm::StringRef code);
  /// Writes the source of a key whose compilation failed, and returns the path.
  llvm::Expected<std::string> keepSource(const CodeKey &key);

  /// Returns why a key has no entry: "new", or the difference to the entries of
  /// the same source: "known with LLVM '22.1.7', and this is '22.1.8'".
  std::string explainMiss(const CodeKey &key) const;

  /// Describes the first entry that was found damaged. It was removed, so that
  /// its code is made anew. Empty if there was none.
  std::string firstDamage() const;

  /// Returns the entries in the folder, of all kinds or of one.
  Usage usage(llvm::StringRef kind = "") const;

  /// Returns the file name of a key.
  static std::string fileName(const CodeKey &key);

private:
  KernelCache(int directory, std::string folder, uint64_t limit)
      : directory(directory), folder(std::move(folder)), limit(limit) {}
  std::optional<std::string> read(const std::string &name) const;
  llvm::Error write(const std::string &name,
                    llvm::ArrayRef<llvm::StringRef> pieces);
  void discard(const std::string &name) const;
  void trim();

  int directory; ///< its descriptor, which stays valid if the folder is renamed
  std::string folder;
  uint64_t limit;
  mutable std::mutex mutex; ///< guards what follows
  mutable std::string damage;
  uint64_t written = 0; ///< bytes since the entries were last counted
};

} // namespace mp

#endif // MP_RUNTIME_CACHE_KERNELCACHE_H
