//===- KernelCache.h - compiled kernels kept on disk ----------------------===//
//
// One entry is one file, named by the key: the hash of everything that decides
// what the compiler makes. An entry is written under another name, synced and
// renamed, so that a reader sees a whole one or none, and it carries a checksum
// of itself. A cache never breaks a run: what cannot be read is a miss, and
// what cannot be written is not kept.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CUDA_KERNELCACHE_H
#define MP_RUNTIME_CUDA_KERNELCACHE_H

#include "codegen/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <mutex>
#include <optional>

namespace mp::cuda {

/// The folder of the cache: MP_CACHE_DIR, else $XDG_CACHE_HOME/mantissa, else
/// ~/.cache/mantissa; empty where MP_CACHE_DIR is "off" or none is known.
std::string cacheFolder();

/// 64 hexadecimal digits of SHA-256 over a kernel's source, the headers it
/// includes, the compiler's options and version, the architecture and the
/// version of this format.
std::string cacheKey(llvm::StringRef source, llvm::ArrayRef<Header> headers,
                     llvm::ArrayRef<std::string> options,
                     llvm::StringRef compiler, llvm::StringRef architecture);

/// A folder of compiled kernels, shared with other processes. Thread-safe.
class KernelCache {
public:
  struct Usage {
    uint64_t entries = 0, bytes = 0;
  };
  static constexpr uint64_t defaultLimit = uint64_t(1) << 30;

  /// Makes the folder (0700) where it is missing. Errors: it cannot be made or
  /// opened, belongs to another user, or others may write to it. `limit` bounds
  /// the bytes of all entries; the ones used longest ago are dropped.
  static llvm::Expected<std::unique_ptr<KernelCache>>
  open(llvm::StringRef folder, uint64_t limit = defaultLimit);
  ~KernelCache();

  /// The value of a key; nothing where there is no entry, or a damaged one,
  /// which is removed.
  std::optional<std::string> find(llvm::StringRef key);
  /// Keeps a value. An error leaves nothing behind.
  llvm::Error store(llvm::StringRef key, llvm::StringRef value);

  /// What is in the folder now.
  Usage usage() const;

private:
  KernelCache(int directory, std::string folder, uint64_t limit)
      : directory(directory), folder(std::move(folder)), limit(limit) {}
  void trim();

  int directory; ///< its descriptor: a folder renamed meanwhile is still ours
  std::string folder;
  uint64_t limit;
  std::mutex mutex;     ///< of `written`
  uint64_t written = 0; ///< since the entries were last counted
};

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_KERNELCACHE_H
