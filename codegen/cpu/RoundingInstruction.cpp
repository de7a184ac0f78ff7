//===- RoundingInstruction.cpp - bf16 by one instruction ------------------===//
#include "codegen/cpu/RoundingInstruction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

static constexpr int64_t kWidth = 16; // elements of f32 in a register

static Value callIntrinsic(ImplicitLocOpBuilder &b, Type type, StringRef name,
                           ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands)
      .getResult(0);
}

/// Whether any lane of the registers is subnormal, as an i1.
static Value anySubnormal(ImplicitLocOpBuilder &b, ArrayRef<Value> registers) {
  constexpr int32_t subnormal = 0x20;
  Value kind = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(subnormal));
  auto flags = VectorType::get({kWidth}, b.getI1Type());
  Value any;
  for (Value part : registers) {
    Value is =
        callIntrinsic(b, flags, "llvm.x86.avx512.fpclass.ps.512", {part, kind});
    any = any ? arith::OrIOp::create(b, any, is) : is;
  }
  return vector::ReductionOp::create(b, vector::CombiningKind::OR, any);
}

/// Rounds one register to half a register, or two to a whole one.
static Value roundRegisters(ImplicitLocOpBuilder &b,
                            ArrayRef<Value> registers) {
  int64_t lanes = kWidth * registers.size();
  Type bf16 = VectorType::get({lanes}, b.getBF16Type());
  Value rounded =
      registers.size() == 1
          ? callIntrinsic(b, bf16, "llvm.x86.avx512bf16.cvtneps2bf16.512",
                          registers[0])
          // The first operand goes to the upper half.
          : callIntrinsic(b, bf16, "llvm.x86.avx512bf16.cvtne2ps2bf16.512",
                          {registers[1], registers[0]});
  return arith::BitcastOp::create(b, VectorType::get({lanes}, b.getI16Type()),
                                  rounded);
}

/// `count` lanes of x and then y, from lane `at` on.
static Value shuffle(ImplicitLocOpBuilder &b, Value x, Value y, int64_t at,
                     int64_t count) {
  auto lanes = llvm::to_vector(llvm::seq(at, at + count));
  return vector::ShuffleOp::create(b, x, y, lanes);
}

bool mp::cpu::canRoundByInstruction(Value x) {
  auto type = dyn_cast<VectorType>(x.getType());
  return type && type.getRank() == 1 && !type.isScalable() &&
         type.getElementType().isF32() && type.getNumElements() >= kWidth &&
         llvm::isPowerOf2_64(type.getNumElements());
}

Value mp::cpu::roundByInstruction(ImplicitLocOpBuilder &b, Value x,
                                  function_ref<Value()> otherwise) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  SmallVector<Value> registers;
  for (int64_t at = 0; at < lanes; at += kWidth)
    registers.push_back(lanes == kWidth ? x : shuffle(b, x, x, at, kWidth));
  Value never = LLVM::ConstantOp::create(b, b.getBoolAttr(false));
  Value isRare = LLVM::ExpectOp::create(b, anySubnormal(b, registers), never);

  auto type = VectorType::get({lanes}, b.getI16Type());
  auto branch = scf::IfOp::create(b, TypeRange(type), isRare, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, otherwise());
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> parts;
  for (size_t i = 0; i < registers.size(); i += 2)
    parts.push_back(
        roundRegisters(b, ArrayRef(registers).slice(i).take_front(2)));
  for (int64_t size = 2 * kWidth; parts.size() > 1; size *= 2) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(shuffle(b, parts[i], parts[i + 1], 0, 2 * size));
    parts = std::move(pairs);
  }
  scf::YieldOp::create(b, parts.front());
  return branch.getResult(0);
}
