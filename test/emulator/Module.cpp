//===- Module.cpp - loaded kernels ----------------------------------------===//

#include "Module.h"

#include "Call.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <unistd.h>

namespace mp::emulator {

Module::~Module() {
  if (object)
    dlclose(object);
}

/// Returns the bytes of an object of which only the start is known; 0 if it is
/// not one. Linkers write the table of sections last.
static size_t imageSize(const void *image) {
  Elf64_Ehdr header;
  if (memcmp(image, ELFMAG, SELFMAG) != 0)
    return 0;
  memcpy(&header, image, sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
    return 0;
  return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize;
}

static void *openImage(const void *image, size_t size) {
  std::error_code error;
  std::string path =
      (std::filesystem::temp_directory_path(error) / "mp-emulator-XXXXXX")
          .string();
  int file = mkstemp(path.data());
  if (file < 0)
    return nullptr;
  const auto *next = static_cast<const char *>(image);
  ssize_t wrote = 1;
  for (size_t left = size; left && wrote > 0; left -= wrote, next += wrote)
    wrote = write(file, next, left);
  close(file);
  void *object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object)
    log(format("cannot load a module: %s", dlerror()));
  unlink(path.c_str());
  return object;
}

/// Code for 9.0 runs on 9.x, x >= 0, as on a device.
static bool runsOn(int built, int arch) {
  return built / 10 == arch / 10 && built % 10 <= arch % 10;
}

std::unique_ptr<Module> loadModule(const void *image, int arch,
                                   CUresult *error) {
  *error = CUDA_ERROR_INVALID_IMAGE;
  size_t size = image ? imageSize(image) : 0;
  if (!size)
    return nullptr;
  auto module = std::make_unique<Module>();
  void *object = module->object = openImage(image, size);
  if (!object)
    return nullptr;
  auto *context = static_cast<Context **>(dlsym(object, "mpEmulator"));
  auto *built = static_cast<const int *>(dlsym(object, "mpEmulatorArch"));
  auto *entry =
      static_cast<const KernelEntry *>(dlsym(object, "mpEmulatorKernels"));
  if (!context || !built || !entry)
    return nullptr;
  *error = CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (!runsOn(*built, arch))
    return nullptr;
  for (; entry->name; ++entry)
    module->kernels.push_back(std::make_unique<Kernel>(Kernel{entry, context}));
  *error = CUDA_SUCCESS;
  return module;
}

CUresult makeLaunch(const Kernel *kernel, Dim3 grid, Dim3 block,
                    unsigned shared, void **parameters, Launch *launch) {
  auto threads = uint64_t{block.x} * block.y * block.z;
  auto blocks = uint64_t{grid.x} * grid.y * grid.z;
  if (!threads || threads > 1024 || block.z > 64 || !blocks ||
      grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 ||
      shared > kernel->maxDynamicShared ||
      (!parameters && kernel->entry->parameters))
    return CUDA_ERROR_INVALID_VALUE;
  *launch = {kernel->entry, kernel->context, grid, block, shared, {}};
  for (int i = 0; i < kernel->entry->parameters; ++i) {
    const auto *bytes = static_cast<const unsigned char *>(parameters[i]);
    launch->parameters.emplace_back(bytes, bytes + kernel->entry->sizes[i]);
  }
  return CUDA_SUCCESS;
}

} // namespace mp::emulator
