//===- Composites.cpp - ops that consist of others ------------------------===//
#include "passes/analysis/Composites.h"
#include "dialect/Expression.h"

using namespace mlir;
using namespace mp;

void mp::replaceByWide(Operation *op, ImplicitLocOpBuilder &b,
                       ValueRange results) {
  for (auto [old, made] : llvm::zip_equal(op->getResults(), results))
    old.replaceAllUsesWith(castTo(b, made, elementType(old)));
  op->erase();
}

void mp::decomposeInPlace(DecomposableOpInterface op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(Expression(b, operand).wide());
  replaceByWide(op, b, op.decompose(b, operands));
}
