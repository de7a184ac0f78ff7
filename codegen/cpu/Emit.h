//===- Emit.h - from a kernel's body to an object, on the CPU -------------===//
//
// What the CPU target makes of one `mp.kernel`: launches of compiled functions
// over the kernel's operands, results and temporaries.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_EMIT_H
#define MP_CODEGEN_CPU_EMIT_H

#include "codegen/Program.h"
#include "codegen/cpu/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/LogicalResult.h"
#include <memory>
#include <optional>
#include <string>

namespace mp::cpu {

/// An argument of a launch: an operand or result of the kernel, or one of its
/// temporaries. Results follow operands nowhere but here, so an in-place result
/// is simply given its operand's place by the planner.
struct KernelArgument {
  enum class Kind { Operand, Result, Temporary };
  Kind kind = Kind::Operand;
  unsigned index = 0;
};

/// One launch, its code made by `ObjectCompiler`. Fields as in mp::Launch.
struct KernelLaunch {
  std::string symbol;
  int64_t grid = 1, block = 1;
  uint64_t shared = 0;
  llvm::SmallVector<KernelArgument> arguments;
};

/// A call of a library routine instead of code of ours. Fields as in mp::Call.
struct KernelCall {
  std::string routine;
  std::vector<std::pair<std::string, Call::Attribute>> attributes;
  int64_t grid = 1, block = 1;
  llvm::SmallVector<KernelArgument> arguments;
};

/// Launches run in order. `temporaries` are sizes in bytes; they live as long
/// as the kernel runs.
struct EmittedKernel {
  llvm::SmallVector<uint64_t> temporaries;
  llvm::SmallVector<KernelLaunch> launches;
  std::optional<KernelCall> call; ///< and then no launch
};

/// Turns functions into objects. Functions equal but for their name are
/// compiled once. Thread-safe.
class ObjectCompiler {
public:
  /// `target` comes from Target::host or Target::get.
  explicit ObjectCompiler(Target target);
  ~ObjectCompiler();
  const Target &target() const;

  /// Loads into `context` what `compile` needs. Call it once, before threads
  /// share the context: loading dialects is the one thing that they cannot do
  /// at once.
  static void prepare(mlir::MLIRContext &context);

  /// Compiles a module that holds one function, and consumes it:
  ///
  ///   func.func @any(%a: memref<..>, ..., %begin: index, %end: index[,
  ///   %shared: memref<Nxi8>])
  ///
  /// of arith, math, vector, scf, memref (and affine) ops. The memrefs are
  /// static with the identity layout; an argument of type memref<..xi1> has a
  /// byte for each element, and bf16 is computed on as its bits, so that every
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
  std::unique_ptr<Impl> impl;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_EMIT_H
