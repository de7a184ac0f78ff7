//===- Arch.cpp - generations of NVIDIA GPUs ------------------------------===//
#include "codegen/cuda/Arch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mp::cuda;

static constexpr unsigned kKnownCapabilities[] = {80,  86,  87,  89,  90,
                                                  100, 103, 110, 120, 121};

/// "sm_80, sm_86 or sm_90"
static std::string knownNames() {
  std::string names;
  for (unsigned capability : kKnownCapabilities) {
    if (!names.empty())
      names += capability == std::end(kKnownCapabilities)[-1] ? " or " : ", ";
    names += Arch{capability}.name();
  }
  return names;
}

llvm::Expected<Arch> Arch::get(llvm::StringRef name) {
  if (name.empty())
    return Arch();
  llvm::StringRef number = name;
  unsigned capability = 0;
  if (!number.consume_front("sm_") || number.getAsInteger(10, capability))
    return llvm::createStringError(
        "'" + name + "' is not a CUDA architecture: expected " + knownNames());
  if (capability < 80)
    return llvm::createStringError(
        name + " is too old: kernels need sm_80 (Ampere) or later");
  return Arch{capability};
}

llvm::Expected<Arch> Arch::known(llvm::StringRef name) {
  llvm::Expected<Arch> arch = get(name);
  if (arch && !llvm::is_contained(kKnownCapabilities, arch->capability))
    return llvm::createStringError(
        "'" + name + "' is not a CUDA architecture: expected " + knownNames());
  return arch;
}

std::string Arch::name() const { return "sm_" + std::to_string(capability); }

uint64_t Arch::sharedBytes() const {
  switch (capability) {
  case 80:
  case 87:
    return 163 << 10;
  case 86:
  case 89:
  case 120:
  case 121:
    return 99 << 10;
  default:
    return capability < 90 ? 99 << 10 : 227 << 10;
  }
}

int64_t Arch::multiprocessors() const {
  switch (capability) {
  case 80:
    return 108; // A100
  case 86:
    return 72; // A10
  case 87:
    return 16; // Jetson AGX Orin
  case 89:
    return 58; // L4
  case 90:
    return 114; // H100 PCIe
  case 100:
  case 103:
    return 148; // B200, B300
  case 110:
    return 20; // Jetson Thor
  case 121:
    return 48; // GB10
  default:
    return 36; // RTX 5060 Ti
  }
}
