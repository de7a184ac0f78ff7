//===- Aliases.h - values that lie in the same memory -----------*- C++ -*-===//
#ifndef MP_CODEGEN_PLAN_ALIASES_H
#define MP_CODEGEN_PLAN_ALIASES_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mp {

/// The values of a block between kernels, by the memory they lie in: a value,
/// its reshapes and parts, and what it is a part of.
class Aliases {
public:
  explicit Aliases(mlir::Block &block);

  /// Whether an op computes nothing, but sees its operands as its result.
  static bool isView(mlir::Operation *op);

  /// Whether no op after `op` uses a value, or another in its memory.
  bool areLastUsedBy(mlir::Operation *op, mlir::Value value) const;

  /// Calls `visit` with each use of a value, or of another in its memory, by an
  /// op that is no view.
  void forEachUse(mlir::Value value,
                  llvm::function_ref<void(mlir::OpOperand &)> visit) const;

private:
  llvm::EquivalenceClasses<void *> classes;       ///< opaque pointers of values
  llvm::DenseMap<void *, mlir::Operation *> last; ///< by leader of a class
};

} // namespace mp

#endif // MP_CODEGEN_PLAN_ALIASES_H
