//===- MpiPlugin.cpp - opens MPI at run time ------------------------------===//
#include "runtime/ranks/MpiPlugin.h"
#include "runtime/ranks/MpiRanks.h"
#include "support/Error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace mp;
namespace path = llvm::sys::path;

static constexpr char kFile[] = "libmantissa-mpi.so";

bool mp::isStartedByMpi() {
  // The number of ranks, as Open MPI, and MPICH and its relatives, tell it.
  for (const char *name :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"})
    if (const char *size = std::getenv(name)) {
      int ranks = 0;
      return llvm::to_integer(size, ranks) && ranks > 1;
    }
  // Others tell the rank alone.
  for (const char *name : {"PMI_RANK", "PMIX_RANK"})
    if (std::getenv(name))
      return true;
  return false;
}

/// The file that this code is in: a library, or the program.
static std::string ownFile() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void *>(&isStartedByMpi), &info) &&
      info.dli_fname)
    return info.dli_fname;
  return "";
}

static std::vector<std::string> candidates() {
  if (const char *chosen = std::getenv("MP_MPI_PATH"))
    return {chosen};
  std::vector<std::string> files;
  auto add = [&](llvm::StringRef folder, llvm::StringRef below) {
    llvm::SmallString<256> file(folder);
    path::append(file, below, kFile);
    if (!folder.empty() && llvm::sys::fs::exists(file))
      files.push_back(file.str().str());
  };
  std::string program = llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&isStartedByMpi));
  for (const std::string &file : {ownFile(), program})
    add(path::parent_path(file), "mantissa");
  add(path::parent_path(path::parent_path(program)), "lib/mantissa");
  return files;
}

static llvm::Expected<const MpiTable *> load() {
  constexpr char kAdvice[] =
      "training on several processes needs MPI; on Debian, openmpi-bin runs "
      "it, and with libopenmpi-dev installed, building Mantissa makes ";
  std::vector<std::string> files = candidates();
  if (files.empty())
    return makeError("{0} is not installed: {1}it", kFile, kAdvice);
  // Global: the parts that MPI's library loads itself look for its symbols.
  void *handle = dlopen(files[0].c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle)
    return makeError("cannot open {0}: {1} ({2}{3})", kFile, dlerror(), kAdvice,
                     kFile);
  auto *function = reinterpret_cast<const MpiTable *(*)(int)>(
      dlsym(handle, kMpiTableFunction));
  const MpiTable *table = function ? function(kMpiTableVersion) : nullptr;
  if (!table)
    return makeError("{0} is of another version of Mantissa", files[0]);
  return table;
}

llvm::Expected<const MpiTable &> mp::openMpi() {
  static std::string reason;
  static const MpiTable *const table = [] {
    llvm::Expected<const MpiTable *> loaded = load();
    if (loaded)
      return *loaded;
    reason = llvm::toString(loaded.takeError());
    return static_cast<const MpiTable *>(nullptr);
  }();
  if (!table)
    return llvm::createStringError(reason);
  return *table;
}
