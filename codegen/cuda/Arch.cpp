#include "codegen/cuda/Arch.h"

using namespace mp::cuda;

llvm::Expected<Arch> Arch::get(llvm::StringRef name) {
  if (name.empty())
    return Arch();
  llvm::StringRef number = name;
  unsigned capability = 0;
  if (!number.consume_front("sm_") || number.getAsInteger(10, capability))
    return llvm::createStringError("'" + name +
                                   "' is no CUDA architecture: expected sm_80, "
                                   "sm_86, sm_89, sm_90, sm_100 or sm_120");
  if (capability < 80)
    return llvm::createStringError(
        name + " is too old: kernels need sm_80 (Ampere) or later");
  return Arch{capability};
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
