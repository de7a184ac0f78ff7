//===- TokenDims.h - where a function has its tokens ------------*- C++ -*-===//
#ifndef MP_PASSES_STEP_TOKENDIMS_H
#define MP_PASSES_STEP_TOKENDIMS_H

#include "dialect/ops/Attention.h"
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Scan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mp {

/// Follows the tokens of an argument [batch, tokens] through a function that
/// computes each token from that token alone, but for causal attention and
/// loops from the first token on.
class TokenDims {
public:
  explicit TokenDims(mlir::BlockArgument tokens) : tokens(tokens) {
    dims[tokens] = 1;
  }

  /// An error at an op that cannot be computed for some of the tokens.
  mlir::LogicalResult run(mlir::func::FuncOp function) {
    return visitBlock(function.getBody().front());
  }

  bool isToken(mlir::Value value) const { return dims.contains(value); }
  int64_t of(mlir::Value value) const { return dims.at(value); }
  int64_t count() const { return tensorType(tokens).getDimSize(1); }
  /// Whether a scan runs over the tokens.
  bool hasLoops() const { return !loops.empty(); }
  bool isLoop(mlir::Operation *op) const { return loops.contains(op); }

  /// The dimension of an operand that has a row for each token, though it does
  /// not depend on the tokens, such as the table of positions.
  std::optional<int64_t> placesOf(mlir::Operation *op, unsigned operand) const;

private:
  bool isAt(mlir::Operation *op, llvm::ArrayRef<int64_t> found) const;
  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult
  visitRows(mlir::Operation *op,
            llvm::MutableArrayRef<mlir::OpOperand> operands);
  mlir::LogicalResult visitAttention(ScaledDotProductAttentionOp op);
  mlir::LogicalResult visitRegion(AutocastOp op);
  mlir::LogicalResult visitScan(ScanOp op);

  mlir::BlockArgument tokens;
  llvm::DenseMap<mlir::Value, int64_t> dims;
  llvm::DenseSet<mlir::Operation *> loops;
};

} // namespace mp

#endif // MP_PASSES_STEP_TOKENDIMS_H
