//===- Target.cpp - the CPU that objects are made for ---------------------===//
#include "codegen/cpu/Target.h"
#include "support/HostCpu.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mp::cpu;

namespace {

/// LLVM's entry for the host's architecture, initialised on first use.
const llvm::Target &nativeTarget() {
  static const llvm::Target *target = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    std::string error;
    const llvm::Target *found = llvm::TargetRegistry::lookupTarget(
        llvm::Triple(llvm::sys::getProcessTriple()), error);
    if (!found)
      llvm::report_fatal_error(
          llvm::Twine("LLVM has no back end for this machine: ") + error);
    return found;
  }();
  return *target;
}

llvm::Triple hostTriple() {
  return llvm::Triple(llvm::sys::getProcessTriple());
}

/// Returns what LLVM knows of a target. It is made once for each, as every
/// kernel asks for several features and reading them all takes long.
const llvm::MCSubtargetInfo &subtarget(const Target &target) {
  static std::mutex mutex;
  static llvm::StringMap<std::unique_ptr<llvm::MCSubtargetInfo>> known;
  std::lock_guard<std::mutex> lock(mutex);
  auto &entry = known[target.cpu + "\n" + target.features];
  if (!entry)
    entry.reset(nativeTarget().createMCSubtargetInfo(hostTriple(), target.cpu,
                                                     target.features));
  return *entry;
}

} // namespace

bool Target::has(llvm::StringRef feature) const {
  return subtarget(*this).checkFeatures(("+" + feature).str());
}

Target Target::host() {
  Target target;
  target.cpu = llvm::sys::getHostCPUName().str();
  // Missing features count too: a virtual machine may hide what its CPU has.
  llvm::SmallVector<std::string> features;
  for (const auto &feature : hostCpuFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  target.features = llvm::join(features, ",");
  return target;
}

llvm::Expected<Target> Target::get(llvm::StringRef cpu,
                                   llvm::StringRef features) {
  Target target = host();
  if (!cpu.empty()) {
    if (cpu.starts_with("sm_"))
      return llvm::createStringError(
          "'" + cpu +
          "' is a CUDA architecture, and the target is a CPU: choose a CUDA "
          "device (mp-run --device cuda, mp-translate --mp-target=cuda)");
    if (!subtarget({"", ""}).isCPUStringValid(cpu))
      return llvm::createStringError("unknown cpu '" + cpu + "'");
    target = {cpu.str(), ""};
  }
  // Names may have no sign ("avx2"), as in a Program, or one.
  llvm::SmallVector<llvm::StringRef> names;
  features.split(names, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef name : names) {
    if (!target.features.empty())
      target.features += ",";
    target.features +=
        (name.starts_with("+") || name.starts_with("-") ? "" : "+") +
        name.str();
  }
  if (hostTriple().isX86() && !target.has("f16c"))
    return llvm::createStringError(
        "cpu '" + target.cpu + "' lacks f16c: kernels need at least x86-64-v3");
  return target;
}

std::unique_ptr<llvm::TargetMachine> Target::createMachine() const {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(
      nativeTarget().createTargetMachine(
          hostTriple(), cpu, features, options, llvm::Reloc::PIC_,
          llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}
