//===- HostCpu.cpp - what the CPU of this process can do ------------------===//
#include "support/HostCpu.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"
#include <cstdlib>
#include <sys/syscall.h>
#include <unistd.h>

/// Asks Linux for the registers that a process does not get by itself, as they
/// make each of its signal frames 8 KiB larger.
static bool enableTileRegisters() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
#else
  return false;
#endif
}

static llvm::StringMap<bool> findFeatures() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  const char *chosen = std::getenv("MP_CPU_FEATURES");
  for (llvm::StringRef name : llvm::split(chosen ? chosen : "", ','))
    if (name.trim().consume_front("-"))
      features[name.trim().drop_front()] = false;
  if (features.lookup("amx-tile") && !enableTileRegisters())
    for (auto &feature : features)
      if (feature.getKey().starts_with("amx-"))
        feature.second = false;
  return features;
}

const llvm::StringMap<bool> &mp::hostCpuFeatures() {
  static const llvm::StringMap<bool> features = findFeatures();
  return features;
}
