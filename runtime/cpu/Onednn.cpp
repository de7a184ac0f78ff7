//===- Onednn.cpp - oneDNN, opened at run time ----------------------------===//
#include "runtime/cpu/Onednn.h"
#include <cstdlib>
#include <dlfcn.h>
#include <optional>

using namespace mp;
using namespace mp::dnnl;

namespace {

constexpr char kSoname[] = "libdnnl.so.2";

/// Fills `function` from the library; the error names the missing symbol.
template <typename F>
llvm::Error resolve(void *handle, F *&function, const char *name,
                    llvm::StringRef path) {
  function = reinterpret_cast<F *>(dlsym(handle, name));
  if (!function)
    return llvm::createStringError("oneDNN library '" + path +
                                   "' has no function '" + name + "'");
  return llvm::Error::success();
}

std::string fileOf(void (*function)(int)) {
  Dl_info info = {};
  return dladdr(reinterpret_cast<void *>(function), &info) && info.dli_fname
             ? info.dli_fname
             : "?";
}

/// A preloaded library comes before those that oneDNN links when its calls are
/// bound.
void findPreloadedOpenmp(Library &library) {
  auto *first = reinterpret_cast<void (*)(int)>(
      dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (!first || first == library.omp_set_num_threads)
    return;
  library.preloaded_omp_set_num_threads = first;
  library.openmps =
      fileOf(first) + " and " + fileOf(library.omp_set_num_threads);
}

llvm::Error resolveAll(void *handle, llvm::StringRef path, Library &library) {
#define MP_RESOLVE(NAME, RESULT, PARAMETERS)                                   \
  if (llvm::Error error = resolve(handle, library.NAME, "dnnl_" #NAME, path))  \
    return error;
  MP_ONEDNN_FUNCTIONS(MP_RESOLVE)
#undef MP_RESOLVE
  const Version &version = *library.version();
  if (version.major != 2)
    return llvm::createStringError("oneDNN library '" + path + "' is version " +
                                   llvm::Twine(version.major) + "." +
                                   llvm::Twine(version.minor) +
                                   ", expected 2.x");
  if (version.cpuRuntime == runtimeSequential)
    return llvm::Error::success();
  if (version.cpuRuntime != runtimeOpenmp)
    return llvm::createStringError(
        "oneDNN library '" + path +
        "' brings threads that are neither OpenMP's nor none (runtime " +
        llvm::Twine(version.cpuRuntime) + ")");
  // Found through oneDNN's handle, so that it is oneDNN's own OpenMP.
  if (llvm::Error error = resolve(handle, library.omp_set_num_threads,
                                  "omp_set_num_threads", path))
    return error;
  findPreloadedOpenmp(library);
  return llvm::Error::success();
}

llvm::Expected<Library> load() {
  const char *chosen = std::getenv("MP_DNNL_PATH");
  const char *path = chosen ? chosen : kSoname;
  // RTLD_LOCAL: another oneDNN in this process must not be bound to this one.
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return llvm::createStringError(
        llvm::Twine("cannot open oneDNN: tried ") +
        (chosen ? "MP_DNNL_PATH=" : "the loader's path for ") + path + ": " +
        dlerror());
  Library library;
  if (llvm::Error error = resolveAll(handle, path, library))
    return error;
  if (llvm::Error error =
          check(library.engine_create(&library.engine, engineCpu, 0),
                "dnnl_engine_create", path))
    return error;
  return library;
}

} // namespace

/// Why oneDNN cannot be opened.
static std::string problem;

llvm::Expected<const Library &> dnnl::open() {
  static const std::optional<Library> library = []() -> std::optional<Library> {
    llvm::Expected<Library> loaded = load();
    if (loaded)
      return *loaded;
    problem = llvm::toString(loaded.takeError());
    return std::nullopt;
  }();
  if (!library)
    return llvm::createStringError(problem);
  return *library;
}

llvm::Error dnnl::check(Status status, llvm::StringRef call,
                        const llvm::Twine &what) {
  static constexpr const char *names[] = {
      "success",         "out of memory", "invalid arguments", "unimplemented",
      "iterator at end", "runtime error", "not required"};
  if (status == success)
    return llvm::Error::success();
  unsigned index = status;
  return llvm::createStringError(
      "oneDNN: " + call + " failed for " + what + ": " +
      (index < std::size(names) ? names[index] : "unknown status") + " (" +
      llvm::Twine(index) + ")");
}

bool mp::onednnAvailable() {
  llvm::Expected<const Library &> library = dnnl::open();
  if (library)
    return true;
  llvm::consumeError(library.takeError());
  return false;
}

std::string mp::onednnVersion() {
  if (!onednnAvailable())
    return "";
  const Version &version = *llvm::cantFail(dnnl::open()).version();
  return std::to_string(version.major) + "." + std::to_string(version.minor) +
         "." + std::to_string(version.patch);
}

llvm::Error mp::checkOnednn(llvm::function_ref<void(llvm::StringRef)> onNote) {
  llvm::Expected<const Library &> library = dnnl::open();
  if (!library)
    return llvm::createStringError("oneDNN is asked for always: " +
                                   llvm::toString(library.takeError()));
  if (!library->openmps.empty() && onNote)
    onNote("note: two OpenMP runtimes are loaded, " + library->openmps +
           "; oneDNN's calls go to the first");
  return llvm::Error::success();
}
