//===- Info.cpp - mp-run info ---------------------------------------------===//
#include "runtime/ThreadPool.h"
#include "runtime/cache/KernelCache.h"
#include "runtime/cpu/Onednn.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/Cudnn.h"
#include "runtime/cuda/Nvrtc.h"
#include "support/HostCpu.h"
#include "tools/run/Commands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/TargetParser/Host.h"
#include <zlib.h>

using namespace llvm;

namespace mp::tool {

static void printHost(raw_ostream &os) {
  std::vector<std::string> features;
  for (auto &feature : hostCpuFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features);
  std::string onednn = onednnVersion();
  os << "targets:  cpu, cuda\n"
     << "cpu:      " << sys::getHostCPUName() << "\n"
     << "features: " << llvm::join(features, ",") << "\n"
     << "threads:  " << ThreadPool::cores() << "\n"
     << "LLVM:     " << LLVM_VERSION_STRING << "\n"
     << "oneDNN:   "
     << (onednn.empty() ? "not found (Debian package libdnnl2)" : onednn)
     << "\n"
     << "zlib:     " << zlibVersion() << "\n";
}

/// Returns "13.0, /usr/lib/libnvrtc.so.13", or why there is none.
template <typename T> static std::string found(Expected<T &> library) {
  if (!library)
    return toString(library.takeError());
  return library->version() + ", " + library->path;
}

static void printDevices(raw_ostream &os) {
  Expected<const cuda::Driver &> driver = cuda::openDriver();
  if (!driver) {
    os << "driver:   " << toString(driver.takeError()) << "\n";
    return;
  }
  os << "driver:   CUDA " << cuda::versionText(driver->version) << ", "
     << driver->path << "\n";
  Expected<std::vector<cuda::DeviceFacts>> devices = cuda::listDevices();
  if (!devices) {
    os << "devices:  " << toString(devices.takeError()) << "\n";
    return;
  }
  if (devices->empty())
    os << "devices:  none\n";
  for (const cuda::DeviceFacts &device : *devices) {
    os << left_justify("cuda:" + std::to_string(device.index), 8) << ": "
       << device.name << ", compute capability " << device.capability()
       << format(", %.1f GiB", device.bytes / 1073741824.0);
    if (auto usable = cuda::examine(device.index); !usable)
      os << ", cannot be used: " << toString(usable.takeError());
    os << "\n";
  }
}

static void printCache(raw_ostream &os) {
  std::string folder = cacheFolder();
  os << "cache:    ";
  if (folder.empty()) {
    os << "off\n";
    return;
  }
  os << folder;
  // Info does not create the folder.
  if (!sys::fs::exists(folder)) {
    os << ", empty\n";
    return;
  }
  auto cache = KernelCache::open(folder);
  if (!cache) {
    os << ", not used: " << toString(cache.takeError()) << "\n";
    return;
  }
  KernelCache::Usage usage = (*cache)->usage();
  os << ", " << usage.entries << " kernels (" << (*cache)->usage("o").entries
     << " cpu, " << (*cache)->usage("cubin").entries << " cuda), "
     << format("%.1f MiB of at most ", usage.bytes / 1048576.0)
     << KernelCache::defaultLimit / 1048576 << " MiB\n";
}

int info(ArrayRef<const char *> arguments) {
  Command command{"info", "",
                  "Prints the targets, the libraries found, the CPU, the CUDA "
                  "devices and the cache of kernels."};
  auto others = command.parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  raw_ostream &os = outs();
  printHost(os);
  printDevices(os);
  os << "NVRTC:    " << found(cuda::openNvrtc()) << "\n"
     << "cuBLASLt: " << found(cuda::lt::open()) << "\n"
     << "cuDNN:    " << found(cuda::dnn::open()) << "\n";
  printCache(os);
  return 0;
}

} // namespace mp::tool
