//===- CodeCache.cpp - the cache on disk, as compilers use it -------------===//
#include "runtime/cache/CodeCache.h"
#include "support/Error.h"
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace mp {

static constexpr char kWarningText[] =
    "warning: compiled kernels are not kept: ";

std::shared_ptr<CodeCache> CodeCache::open(Warning onWarning) {
  std::unique_ptr<KernelCache> files;
  std::string folder = cacheFolder(), problem;
  if (folder.empty() && !isCacheOff())
    problem = "neither MP_CACHE_DIR, XDG_CACHE_HOME nor HOME names a folder";
  if (!folder.empty()) {
    auto opened = KernelCache::open(folder);
    if (opened)
      files = std::move(*opened);
    else
      problem = toString(opened.takeError());
  }
  if (!problem.empty() && onWarning)
    onWarning(kWarningText + problem);
  return std::make_shared<CodeCache>(std::move(files), std::move(onWarning));
}

CodeCache::CodeCache(std::unique_ptr<KernelCache> files, Warning onWarning)
    : files(std::move(files)), onWarning(std::move(onWarning)) {
  const char *name = std::getenv("MP_CACHE_LOG");
  if (!name || !*name)
    return;
  bool isError = StringRef(name) == "-";
  logFile = isError
                ? dup(STDERR_FILENO)
                : ::open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (logFile < 0 && this->onWarning)
    this->onWarning("warning: " +
                    toString(makeSystemError("write", name, errno)));
}

CodeCache::~CodeCache() {
  if (logFile >= 0)
    close(logFile);
}

void CodeCache::log(const CodeKey &key, StringRef outcome) {
  std::string line = formatv("{0}{1}{2}: {3}\n", KernelCache::fileName(key),
                             key.label.empty() ? "" : " ", key.label, outcome);
  // One write keeps lines of several threads and processes whole. A log that
  // cannot be written is ignored.
  if (write(logFile, line.data(), line.size()) < 0)
    return;
}

void CodeCache::tellDamage() {
  std::lock_guard lock(mutex);
  if (hasToldDamage)
    return;
  std::string damage = files->firstDamage();
  hasToldDamage = !damage.empty();
  if (hasToldDamage && onWarning)
    onWarning("warning: in the cache of kernels, " + damage +
              "; such kernels are compiled anew");
}

std::optional<std::string> CodeCache::find(const CodeKey &key) {
  std::optional<std::string> code;
  if (files) {
    code = files->find(key);
    tellDamage();
  }
  if (logFile >= 0)
    log(key, code    ? "found"
             : files ? "made anew: " + files->explainMiss(key)
                     : "made anew: there is no cache");
  if (code) {
    std::lock_guard lock(mutex);
    ++counted.hits;
  }
  return code;
}

void CodeCache::keep(const CodeKey &key, StringRef code, double seconds) {
  Error error = files ? files->store(key, code) : Error::success();
  std::lock_guard lock(mutex);
  ++counted.misses;
  counted.seconds += seconds;
  std::string problem = error ? toString(std::move(error)) : "";
  if (!problem.empty() && !std::exchange(warned, true) && onWarning)
    onWarning(kWarningText + problem);
}

std::string CodeCache::keepSource(const CodeKey &key) {
  if (!files)
    return "";
  Expected<std::string> path = files->keepSource(key);
  if (path)
    return *path;
  consumeError(path.takeError()); // the compilation's error is told anyway
  return "";
}

CompileCounts CodeCache::counts() const {
  std::lock_guard lock(mutex);
  return counted;
}

} // namespace mp
