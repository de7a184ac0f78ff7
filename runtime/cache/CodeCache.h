//===- CodeCache.h - the cache on disk, as compilers use it ---------------===//
#ifndef MP_RUNTIME_CACHE_CODECACHE_H
#define MP_RUNTIME_CACHE_CODECACHE_H

#include "runtime/Session.h"
#include "runtime/cache/KernelCache.h"

namespace mp {

/// A KernelCache that counts hits and misses, and warns once if it cannot be
/// written, and once if an entry is damaged. If the switch MP_CACHE_LOG names a
/// file ("-": standard error), each look-up adds a line to it, with the reason
/// of a miss.
class CodeCache final : public CodeStore {
public:
  using Warning = std::function<void(llvm::StringRef)>;

  /// Opens the folder that the switches name. A folder that cannot be used is
  /// one warning, and nothing is stored then or if the cache is off.
  static std::shared_ptr<CodeCache> open(Warning onWarning);
  /// `files` may be null.
  CodeCache(std::unique_ptr<KernelCache> files, Warning onWarning);
  ~CodeCache() override;

  std::optional<std::string> find(const CodeKey &key) override;
  void keep(const CodeKey &key, llvm::StringRef code, double seconds) override;
  /// Returns the path of a file with the source of a key whose compilation
  /// failed; empty if there is no cache or it cannot be written.
  std::string keepSource(const CodeKey &key);

  CompileCounts counts() const;

private:
  void tellDamage();
  void log(const CodeKey &key, llvm::StringRef outcome);

  const std::unique_ptr<KernelCache> files;
  const Warning onWarning;
  int logFile = -1;
  mutable std::mutex mutex; ///< guards what follows
  CompileCounts counted;
  bool warned = false, hasToldDamage = false;
};

} // namespace mp

#endif // MP_RUNTIME_CACHE_CODECACHE_H
