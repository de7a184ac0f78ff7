//===- Emit.h - from a function to an object, on the CPU ------------------===//
#ifndef MP_CODEGEN_CPU_EMIT_H
#define MP_CODEGEN_CPU_EMIT_H

#include "codegen/Emit.h"
#include "codegen/cpu/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/LogicalResult.h"
#include <memory>

namespace mp {
class CodeStore;
}

namespace mp::cpu {

/// Turns functions into objects. Functions equal but for their name are
/// compiled once, and not at all where a store has them. Thread-safe.
class ObjectCompiler {
public:
  /// `target` comes from Target::host or Target::get.
  explicit ObjectCompiler(Target target);
  /// One that shares what `other` has made so far, and looks in `store`, where
  /// there is one, before it makes more.
  ObjectCompiler(const ObjectCompiler &other, std::shared_ptr<CodeStore> store);
  ~ObjectCompiler();
  const Target &target() const;

  /// Loads into `context` the dialects that `compile` needs. Call it once,
  /// before threads share the context: threads cannot load dialects at once.
  static void prepare(mlir::MLIRContext &context);

  /// Compiles a module that holds one function, and consumes it:
  ///
  ///   func.func @any(%a: memref<..>, ..., %begin: index, %end: index[,
  ///   %shared: memref<Nxi8>])
  ///
  /// of arith, math, vector, scf, memref (and affine) ops. The memrefs are
  /// static with the identity layout; an argument of type memref<..xi1> has a
  /// byte for each element, and arithmetic on bf16 uses its bits, so that every
  /// rounding is exact (no value is flushed or contracted). `llvm.noalias` on
  /// an argument is kept. The object exports `void symbol(void *const *args,
  /// int64_t begin, int64_t end, void *shared)`.
  ///
  /// Returns the symbol, "k_" and a hash of the function and the target. Fails
  /// with diagnostics at the function.
  llvm::FailureOr<std::string>
  compile(mlir::OwningOpRef<mlir::ModuleOp> module);

  /// The relocatable object of a symbol that `compile` returned; empty for
  /// others.
  llvm::StringRef object(llvm::StringRef symbol) const;

private:
  struct Impl;
  std::shared_ptr<Impl> impl;
  std::shared_ptr<CodeStore> store;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_EMIT_H
