//===- Jit.cpp - links compiled kernels into this process -----------------===//
#include "runtime/cpu/Jit.h"
#include "support/HostCpu.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace mp;
using namespace llvm::orc;

llvm::StringRef mp::hostCpu() {
  static const std::string name = llvm::sys::getHostCPUName().str();
  return name;
}

llvm::ArrayRef<std::string> mp::hostFeatures() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto &feature : hostCpuFeatures())
      if (feature.getValue())
        list.push_back(feature.getKey().str());
    llvm::sort(list);
    return list;
  }();
  return names;
}

llvm::Error mp::checkHostFeatures(llvm::StringRef features) {
  for (llvm::StringRef feature : llvm::split(features, ',')) {
    feature = feature.trim();
    if (feature.empty() || feature.starts_with("-"))
      continue;
    feature.consume_front("+");
    if (!llvm::binary_search(hostFeatures(), feature))
      return llvm::createStringError("needs the CPU feature '" + feature +
                                     "', which this CPU (" + hostCpu() +
                                     ") lacks");
  }
  return llvm::Error::success();
}

struct Jit::Impl {
  std::unique_ptr<LLJIT> linker;
  std::string reported; ///< what ORC reported besides the error it returned
  unsigned libraries = 0;
};

Jit::Jit(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Jit::~Jit() = default;

llvm::Expected<std::unique_ptr<Jit>> Jit::create() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Expected<JITTargetMachineBuilder> host =
      JITTargetMachineBuilder::detectHost();
  if (!host)
    return host.takeError();
  // Kernels have no initialisers, so no platform is set up; that would compile
  // code of its own at every start.
  auto linker = LLJITBuilder()
                    .setJITTargetMachineBuilder(std::move(*host))
                    .setPlatformSetUp(setUpInactivePlatform)
                    .setNumCompileThreads(0)
                    .create();
  if (!linker)
    return linker.takeError();
  auto impl = std::make_unique<Impl>();
  impl->linker = std::move(*linker);
  // A failed look-up says which symbol failed; what is reported says why.
  impl->linker->getExecutionSession().setErrorReporter(
      [out = impl.get()](llvm::Error error) {
        out->reported += llvm::toString(std::move(error)) + "; ";
      });
  return std::unique_ptr<Jit>(new Jit(std::move(impl)));
}

llvm::Error Jit::link(llvm::ArrayRef<Kernel> kernels) {
  LLJIT &linker = *impl->linker;
  SymbolLookupSet symbols;
  // All checks that need no linking come before anything is added.
  llvm::StringMap<const Kernel *> fresh;
  for (const Kernel &kernel : kernels) {
    if (functions.contains(kernel.symbol))
      continue;
    if (kernel.code.empty())
      return llvm::createStringError("kernel '" + kernel.symbol + "' (" +
                                     kernel.summary + ") has no code");
    if (llvm::Error error = checkHostFeatures(kernel.features))
      return llvm::createStringError("kernel '" + kernel.symbol + "' (" +
                                     kernel.summary + ") " +
                                     llvm::toString(std::move(error)));
    fresh.try_emplace(kernel.symbol, &kernel);
  }
  if (fresh.empty())
    return llvm::Error::success();

  // Kernels get a library of their own: if they fail to link, they must leave
  // no symbol that a second attempt would find defined.
  llvm::Expected<JITDylib &> library =
      linker.createJITDylib("kernels." + std::to_string(++impl->libraries));
  if (!library)
    return library.takeError();
  for (const auto &[symbol, kernel] : fresh) {
    auto object = llvm::MemoryBuffer::getMemBufferCopy(kernel->code, symbol);
    if (llvm::Error error = linker.addObjectFile(*library, std::move(object)))
      return llvm::joinErrors(
          llvm::createStringError("cannot read the object of kernel '" +
                                  symbol + "'"),
          std::move(error));
    symbols.add(linker.mangleAndIntern(symbol));
  }
  impl->reported.clear();
  auto found = linker.getExecutionSession().lookup(
      makeJITDylibSearchOrder(&*library), std::move(symbols));
  if (!found)
    return llvm::createStringError("cannot link kernels: " + impl->reported +
                                   llvm::toString(found.takeError()));
  for (const auto &[symbol, definition] : *found)
    functions[*symbol] = definition.getAddress().toPtr<KernelFunction>();
  return llvm::Error::success();
}
