//===- TokenDims.h - where a function has its tokens ------------*- C++ -*-===//
#ifndef MP_PASSES_DECODE_TOKENDIMS_H
#define MP_PASSES_DECODE_TOKENDIMS_H

#include "dialect/ops/Attention.h"
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Scan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mp {

/// Follows the tokens of an argument [batch, tokens] through a function that
/// computes each token from that token alone, but for causal attention and
/// loops from the first token on. Where the function shifts its text by a
/// token, as a decoder of labels does, all later values belong to the token
/// before.
class TokenDims {
public:
  explicit TokenDims(mlir::BlockArgument tokens) : tokens(tokens) {
    places[tokens] = {1, false};
  }

  /// Whether a function does nothing with an argument of tokens but to shift
  /// it: its tokens are those that the function predicts.
  static bool isShifted(mlir::BlockArgument tokens);

  /// An error at an op that cannot be computed for some of the tokens.
  mlir::LogicalResult run(mlir::func::FuncOp function) {
    return visitBlock(function.getBody().front());
  }

  bool isToken(mlir::Value value) const { return places.contains(value); }
  int64_t of(mlir::Value value) const { return places.at(value).dim; }
  int64_t count() const { return tensorType(tokens).getDimSize(1); }
  /// Whether a scan runs over the tokens.
  bool hasLoops() const { return !loops.empty(); }
  bool isLoop(mlir::Operation *op) const { return loops.contains(op); }
  /// Whether an op shifts the tokens: row i of its result is token i - 1.
  bool isShift(PadOp op) const { return shifts.contains(op); }

  /// The dimension of an operand that has a row for each token, though it does
  /// not depend on the tokens, such as the table of positions.
  std::optional<int64_t> placesOf(mlir::Operation *op, unsigned operand) const;

private:
  /// Where a value has its tokens, and whether they were shifted.
  struct Place {
    int64_t dim = 0;
    bool isShifted = false;
    bool operator==(const Place &) const = default;
  };

  bool isAt(mlir::Operation *op, llvm::ArrayRef<int64_t> found) const;
  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult
  visitRows(mlir::Operation *op,
            llvm::MutableArrayRef<mlir::OpOperand> operands);
  mlir::LogicalResult visitShift(PadOp op);
  mlir::LogicalResult visitAttention(ScaledDotProductAttentionOp op);
  mlir::LogicalResult visitRegion(AutocastOp op);
  mlir::LogicalResult visitScan(ScanOp op);
  /// Says where a result has its tokens, which several operands may say.
  mlir::LogicalResult place(mlir::Operation *op, mlir::Value result,
                            Place found);

  mlir::BlockArgument tokens;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseSet<mlir::Operation *> loops, shifts;
};

} // namespace mp

#endif // MP_PASSES_DECODE_TOKENDIMS_H
