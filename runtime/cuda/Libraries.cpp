//===- Libraries.cpp - finds and opens the CUDA libraries -----------------===//
#include "runtime/cuda/Libraries.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

using namespace llvm;

namespace mp::cuda {

static constexpr StringLiteral kDriverFiles[] = {"libcuda.so.1"};
static constexpr StringLiteral kNvrtcFiles[] = {
    "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
static constexpr StringLiteral kCublasLtFiles[] = {
    "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
static constexpr StringLiteral kCudnnFiles[] = {"libcudnn.so.9"};
static constexpr StringLiteral kNcclFiles[] = {"libnccl.so.2", "libnccl.so"};

const LibraryName kDriverLibrary{"CUDA driver", kDriverFiles, true};
const LibraryName kNvrtcLibrary{"NVRTC", kNvrtcFiles};
const LibraryName kCublasLtLibrary{"cuBLASLt", kCublasLtFiles};
const LibraryName kCudnnLibrary{"cuDNN", kCudnnFiles};
const LibraryName kNcclLibrary{"NCCL", kNcclFiles};

Error deviceError(const Twine &text) {
  return createStringError(std::make_error_code(std::errc::no_such_device),
                           text);
}

static StringRef orEmpty(const char *text) { return text ? text : ""; }

/// The value of an environment variable; "" if it is not set.
static StringRef environment(const char *name) {
  return orEmpty(std::getenv(name));
}

static std::string joinPath(const Twine &a, const Twine &b = "",
                            const Twine &c = "") {
  SmallString<256> path;
  sys::path::append(path, a, b, c);
  return path.str().str();
}

/// The entries of a folder whose names start with `prefix`, in order.
static std::vector<std::string> list(const std::string &folder,
                                     StringRef prefix = "") {
  std::vector<std::string> paths;
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code))
    if (sys::path::filename(it->path()).starts_with(prefix))
      paths.push_back(it->path());
  llvm::sort(paths);
  return paths;
}

/// Folders of the nvidia wheels below a Python prefix ("/usr", a venv).
static void addWheels(const std::string &prefix,
                      std::vector<std::string> &folders) {
  for (const std::string &python : list(joinPath(prefix, "lib"), "python3"))
    for (const char *packages : {"site-packages", "dist-packages"})
      for (const std::string &wheel :
           list(joinPath(python, packages, "nvidia")))
        folders.push_back(joinPath(wheel, "lib"));
}

/// Finds the folders by the layout of prefixes, as starting Python would take
/// longer than everything else together.
static std::vector<std::string> wheelFolders() {
  std::vector<std::string> folders;
  for (const char *name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (StringRef prefix = environment(name); !prefix.empty())
      addWheels(prefix.str(), folders);
  if (auto python = sys::findProgramByName("python3")) {
    std::string prefix =
        sys::path::parent_path(sys::path::parent_path(*python)).str();
    addWheels(prefix, folders);
    // Debian's Python installs to /usr/local what is not a Debian package.
    if (prefix == "/usr")
      addWheels("/usr/local", folders);
  }
  if (StringRef home = environment("HOME"); !home.empty())
    addWheels(joinPath(home, ".local"), folders);
  return folders;
}

static std::vector<std::string> filesIn(ArrayRef<std::string> folders,
                                        const LibraryName &name) {
  std::vector<std::string> files;
  for (const std::string &folder : folders)
    for (StringRef file : name.files)
      if (std::string path = joinPath(folder, file); sys::fs::exists(path))
        files.push_back(std::move(path));
  return files;
}

std::vector<std::string> candidates(const LibraryName &name) {
  if (StringRef chosen = orEmpty(std::getenv("MP_CUDA_PATH"));
      !chosen.empty()) {
    auto files = filesIn(
        {chosen.str(), joinPath(chosen, "lib64"), joinPath(chosen, "lib")},
        name);
    if (!files.empty())
      return files;
  }
  std::vector<std::string> files;
  if (!name.isDriver)
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
      if (StringRef root = environment(variable); !root.empty())
        append_range(
            files,
            filesIn({joinPath(root, "lib64"), joinPath(root, "lib")}, name));
  for (StringRef file : name.files)
    files.push_back(file.str());
  if (!name.isDriver) {
    append_range(files, filesIn({"/usr/local/cuda/lib64"}, name));
    append_range(files, filesIn(wheelFolders(), name));
  }
  return files;
}

/// The file that a handle was opened from, for messages.
static std::string pathOf(void *handle, const std::string &asked) {
  link_map *map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && *map->l_name)
    return map->l_name;
  return asked;
}

Expected<OpenLibrary> openLibrary(const LibraryName &name) {
  std::string missing, broken;
  for (const std::string &file : candidates(name)) {
    // RTLD_LOCAL: another copy in this process must not be bound to this one.
    if (void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
      return OpenLibrary{handle, pathOf(handle, file)};
    const char *reason = dlerror();
    // Report a file that exists but does not load rather than missing ones.
    bool there = StringRef(file).contains('/');
    if (there && broken.empty())
      broken = reason ? reason : file;
    if (!there)
      missing += (missing.empty() ? "" : ", ") + file;
  }
  if (!broken.empty())
    return deviceError("cannot open " + name.title + ": " + broken);
  return deviceError("no " + name.title + ": " + missing + " not found");
}

Expected<void *> findFunction(const OpenLibrary &library, StringRef title,
                              const char *name) {
  if (void *address = dlsym(library.handle, name))
    return address;
  return deviceError(title + " library " + library.path + " has no function '" +
                     name + "'");
}

} // namespace mp::cuda
