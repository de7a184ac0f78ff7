//===- Emit.h - from a kernel's body to an object, on the CPU -------------===//
//
// What the CPU target makes of one `mp.kernel`: launches of compiled functions
// over the kernel's operands, results and temporaries.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_EMIT_H
#define MP_CODEGEN_CPU_EMIT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/LogicalResult.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include <memory>
#include <string>

namespace mp::cpu {

/// The machine that objects are made for.
struct Target {
  std::string cpu;      ///< LLVM name, "znver4"
  std::string features; ///< comma-separated LLVM features, "+avx2,+f16c"
  bool has(llvm::StringRef feature) const;
  static Target host();
};

/// An argument of a launch: an operand or result of the kernel, or one of its
/// temporaries. Results follow operands nowhere but here, so an in-place result is
/// simply given its operand's place by the planner.
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

/// Launches run in order. `temporaries` are sizes in bytes; they live as long as
/// the kernel runs.
struct EmittedKernel {
  llvm::SmallVector<uint64_t> temporaries;
  llvm::SmallVector<KernelLaunch> launches;
};

/// Turns one function `void f(memref<..>..., index begin, index end, shared)` of a
/// module of arith, math, vector, scf, memref and func into an object. Functions
/// equal but for their name are compiled once. Thread-safe.
class ObjectCompiler {
public:
  explicit ObjectCompiler(Target target);
  ~ObjectCompiler();
  const Target &target() const;

  /// Lowers `module`, which holds one function, and consumes it. Returns the
  /// symbol under which the object is found ("k_" and a hash).
  llvm::FailureOr<std::string> compile(mlir::OwningOpRef<mlir::ModuleOp> module);
  /// The relocatable object of a symbol that `compile` returned.
  llvm::StringRef object(llvm::StringRef symbol) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_EMIT_H
