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

/// The folder of the cache: MP_CACHE_DIR, else $XDG_CACHE_HOME/mantissa, else
/// ~/.cache/mantissa; empty if MP_CACHE_DIR is "off" or no folder is known.
std::string cacheFolder();

/// 64 hexadecimal digits of SHA-256 over texts, each with its length before it,
/// so that two texts hash differently from one that joins them.
std::string hashOf(llvm::ArrayRef<llvm::StringRef> texts);

/// A folder of compiled kernels, shared with other processes. Thread-safe.
class KernelCache {
public:
  struct Usage {
    uint64_t entries = 0, bytes = 0;
  };
  static constexpr uint64_t defaultLimit = uint64_t(1) << 30;

  /// Makes the folder (0700) if it is missing. Errors: it cannot be made or
  /// opened, belongs to another user, or others may write to it. `limit` bounds
  /// the bytes of all entries; those used longest ago are dropped.
  static llvm::Expected<std::unique_ptr<KernelCache>>
  open(llvm::StringRef folder, uint64_t limit = defaultLimit);
  ~KernelCache();

  /// The code of a key; nothing if there is no entry, or a damaged one, which
  /// is removed.
  std::optional<std::string> find(const CodeKey &key);
  /// Keeps code. If it fails, no file is left.
  llvm::Error store(const CodeKey &key, llvm::StringRef code);

  /// Why a key has no entry: "new", or how the entries of its source differ:
  /// "known with LLVM '22.1.7', and this is '22.1.8'".
  std::string explainMiss(const CodeKey &key) const;

  /// What is in the folder now, of all kinds or of one kind.
  Usage usage(llvm::StringRef kind = "") const;

  /// The name of a key's file.
  static std::string fileName(const CodeKey &key);

private:
  KernelCache(int directory, std::string folder, uint64_t limit)
      : directory(directory), folder(std::move(folder)), limit(limit) {}
  std::optional<std::string> read(const std::string &name) const;
  void trim();

  int directory; ///< its descriptor, which stays valid if the folder is renamed
  std::string folder;
  uint64_t limit;
  std::mutex mutex;     ///< guards `written`
  uint64_t written = 0; ///< bytes since the entries were last counted
};

} // namespace mp

#endif // MP_RUNTIME_CACHE_KERNELCACHE_H
