//===- ScaleInstruction.cpp - x 2^n in one instruction --------------------===//
#include "codegen/cpu/ScaleInstruction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// Returns the operand of an `Op` whose other operand is the integer `right`.
template <typename Op> static Value operandOf(Value value, int64_t right) {
  auto op = value ? value.getDefiningOp<Op>() : Op();
  APInt number;
  if (!op || !matchPattern(op.getRhs(), m_ConstantInt(&number)) ||
      number.getSExtValue() != right)
    return {};
  return op.getLhs();
}

/// Returns n if `value` is 2^n, made of the bits of its exponent.
static Value exponentOf(Value value) {
  auto bits = value.getDefiningOp<arith::BitcastOp>();
  if (!bits || !getElementTypeOrSelf(value.getType()).isF32())
    return {};
  return operandOf<arith::AddIOp>(operandOf<arith::ShLIOp>(bits.getIn(), 23),
                                  127);
}

/// Returns n as a float if it is the low bits of a float that 1.5 * 2^23 was
/// added to: subtracting that again saves the instruction's operand a
/// conversion.
static Value realOf(OpBuilder &b, Value n) {
  constexpr float magic = 12582912.0f;
  Value low = operandOf<arith::SubIOp>(n, llvm::bit_cast<int32_t>(magic));
  auto bits = low ? low.getDefiningOp<arith::BitcastOp>() : nullptr;
  if (!bits)
    return {};
  Value biased = bits.getIn();
  TypedAttr number = b.getF32FloatAttr(magic);
  if (auto type = dyn_cast<VectorType>(biased.getType()))
    number = DenseElementsAttr::get(type, Attribute(number));
  Value offset = arith::ConstantOp::create(b, n.getLoc(), number);
  return arith::SubFOp::create(b, n.getLoc(), biased, offset);
}

/// Computes x 2^n by the instruction itself, in parts of one register.
static Value scaleByReal(OpBuilder &b, Location location, Value x, Value n) {
  constexpr int64_t width = 16;
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  Value all = LLVM::ConstantOp::create(b, location, b.getI16IntegerAttr(-1));
  Value currentRounding =
      LLVM::ConstantOp::create(b, location, b.getI32IntegerAttr(4));
  Value result = x;
  for (int64_t at = 0; at < lanes; at += width) {
    auto part = [&](Value value) -> Value {
      return vector::ExtractStridedSliceOp::create(b, location, value, at,
                                                   width, 1);
    };
    Value from = part(x);
    Value scaled = LLVM::CallIntrinsicOp::create(
                       b, location, from.getType(),
                       b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                       ValueRange{from, part(n), from, all, currentRounding})
                       .getResult(0);
    result = vector::InsertStridedSliceOp::create(b, location, scaled, result,
                                                  at, 1);
  }
  return result;
}

static Value scale(OpBuilder &b, Location location, Value x, Value n) {
  auto type = dyn_cast<VectorType>(x.getType());
  if (type && type.getRank() == 1 && type.getNumElements() % 16 == 0)
    if (Value real = realOf(b, n))
      return scaleByReal(b, location, x, real);
  return LLVM::CallIntrinsicOp::create(b, location, x.getType(),
                                       b.getStringAttr("llvm.ldexp"),
                                       ValueRange{x, n})
      .getResult(0);
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
    outer.replaceAllUsesWith(
        scale(b, outer.getLoc(), inner.getLhs(), difference.getLhs()));
    outer.erase();
  });
}
