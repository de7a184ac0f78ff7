//===- IrObject.h - objects out of LLVM IR, for tests of the runtime ------===//
#ifndef MP_TEST_UNIT_IROBJECT_H
#define MP_TEST_UNIT_IROBJECT_H

#include "llvm/ADT/SmallString.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace mp::test {

/// Returns the relocatable object of a module's text, as codegen makes its own.
/// Aborts if the text is wrong.
inline std::string objectOf(llvm::StringRef ir) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  std::string error = diagnostic.getMessage().str();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!module || !target)
    llvm::report_fatal_error(llvm::StringRef(error));
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "x86-64", "", {}, llvm::Reloc::PIC_, llvm::CodeModel::Small));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    llvm::report_fatal_error("no object from this target");
  passes.run(*module);
  return bytes.str().str();
}

/// Returns the IR of a kernel over items [begin, end): `body` sees the pointers
/// %p0.. of the f32 arguments, %i, and %shared.
inline std::string kernelIr(llvm::StringRef symbol, unsigned arguments,
                            llvm::StringRef body) {
  std::string ir = ("declare float @expf(float)\ndefine void @" + symbol +
                    "(ptr %args, i64 %begin, i64 %end, ptr %shared) {\n"
                    "entry:\n")
                       .str();
  for (unsigned i = 0; i < arguments; ++i) {
    std::string n = std::to_string(i);
    ir += "  %a" + n + " = getelementptr ptr, ptr %args, i64 " + n + "\n  %p" +
          n + " = load ptr, ptr %a" + n + "\n";
  }
  return ir +
         "  %any = icmp slt i64 %begin, %end\n"
         "  br i1 %any, label %loop, label %done\n"
         "loop:\n"
         "  %i = phi i64 [%begin, %entry], [%next, %loop]\n" +
         body.str() +
         "  %next = add i64 %i, 1\n"
         "  %more = icmp slt i64 %next, %end\n"
         "  br i1 %more, label %loop, label %done\n"
         "done:\n  ret void\n}\n";
}

} // namespace mp::test

#endif // MP_TEST_UNIT_IROBJECT_H
