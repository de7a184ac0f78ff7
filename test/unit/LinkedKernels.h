//===- LinkedKernels.h - objects of kernels, linked for a test --*- C++ -*-===//
#ifndef MP_TEST_UNIT_LINKEDKERNELS_H
#define MP_TEST_UNIT_LINKEDKERNELS_H

#include "codegen/cpu/Emit.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include <gtest/gtest.h>

namespace mp::cpu {

/// The signature of every kernel.
using KernelFunction = void (*)(void *const *, int64_t, int64_t, void *);

/// The linked kernels of a process. Any failure ends the test.
class LinkedKernels {
public:
  LinkedKernels() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  }

  /// Links the object of `symbol` on first use.
  KernelFunction function(const ObjectCompiler &compiler,
                          llvm::StringRef symbol) {
    KernelFunction &function = functions[symbol];
    if (!function) {
      llvm::cantFail(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
          compiler.object(symbol), symbol)));
      function = llvm::cantFail(jit->lookup(symbol)).toPtr<KernelFunction>();
    }
    return function;
  }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::StringMap<KernelFunction> functions;
};

/// Names of the undefined symbols of an object.
inline std::vector<std::string> undefinedSymbols(llvm::StringRef object) {
  auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, "kernel")));
  std::vector<std::string> names;
  for (const llvm::object::SymbolRef &symbol : file->symbols())
    if (llvm::cantFail(symbol.getFlags()) &
        llvm::object::SymbolRef::SF_Undefined)
      if (llvm::StringRef name = llvm::cantFail(symbol.getName());
          !name.empty())
        names.push_back(name.str());
  return names;
}

} // namespace mp::cpu

#endif // MP_TEST_UNIT_LINKEDKERNELS_H
