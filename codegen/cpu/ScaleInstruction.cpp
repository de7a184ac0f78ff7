#include "codegen/cpu/ScaleInstruction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// The operand of an `Op` whose other one is the integer `right`.
template <typename Op> static Value operandOf(Value value, int64_t right) {
  auto op = value ? value.getDefiningOp<Op>() : Op();
  APInt number;
  if (!op || !matchPattern(op.getRhs(), m_ConstantInt(&number)) ||
      number.getSExtValue() != right)
    return {};
  return op.getLhs();
}

/// n where `value` is 2^n, made of the bits of its exponent.
static Value exponentOf(Value value) {
  auto bits = value.getDefiningOp<arith::BitcastOp>();
  if (!bits || !getElementTypeOrSelf(value.getType()).isF32())
    return {};
  return operandOf<arith::AddIOp>(operandOf<arith::ShLIOp>(bits.getIn(), 23),
                                  127);
}

void mp::cpu::useScaleInstruction(ModuleOp module) {
  module.walk([](arith::MulFOp outer) {
    // (x 2^(n >> 1)) 2^(n - (n >> 1))
    auto inner = outer.getLhs().getDefiningOp<arith::MulFOp>();
    Value rest = exponentOf(outer.getRhs());
    Value half = inner ? exponentOf(inner.getRhs()) : Value();
    auto difference = rest ? rest.getDefiningOp<arith::SubIOp>() : nullptr;
    if (!half || !difference || difference.getRhs() != half ||
        operandOf<arith::ShRSIOp>(half, 1) != difference.getLhs())
      return;
    OpBuilder b(outer);
    auto scaled = LLVM::CallIntrinsicOp::create(
        b, outer.getLoc(), outer.getType(), b.getStringAttr("llvm.ldexp"),
        ValueRange{inner.getLhs(), difference.getLhs()});
    outer.replaceAllUsesWith(scaled.getResult(0));
    outer.erase();
  });
}
