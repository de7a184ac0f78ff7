//===- MatrixTiles.cpp - products of bf16 in tile registers ---------------===//
#include "codegen/cpu/MatrixTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mp::cpu;

Value MatrixTiles::call(StringRef intrinsic, ValueRange operands) {
  auto type = LLVM::LLVMX86AMXType::get(b.getContext());
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(intrinsic),
                                       operands)
      .getResult(0);
}

Value MatrixTiles::count(int64_t value) {
  return arith::ConstantOp::create(b, b.getI16IntegerAttr(value));
}

std::pair<Value, Value> MatrixTiles::place(const FlatMemory &memory, Value at,
                                           int64_t pitch) {
  int64_t bytes = memory.element.getIntOrFloatBitWidth() / 8;
  auto toI64 = [&](Value x) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), x);
  };
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, memory.memref);
  Value address = toI64(b.add(base, b.mul(at, bytes)));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  return {LLVM::IntToPtrOp::create(b, pointer, address),
          toI64(b.index(pitch * bytes))};
}

Value MatrixTiles::load(const FlatMemory &memory, Value at, int64_t pitch,
                        int64_t rows, int64_t bytes) {
  auto [address, distance] = place(memory, at, pitch);
  return call("llvm.x86.tileloadd64.internal",
              {count(rows), count(bytes), address, distance});
}

Value MatrixTiles::zero() {
  return call("llvm.x86.tilezero.internal", {count(side), count(rowBytes)});
}

Value MatrixTiles::loadSums(const FlatMemory &memory, Value at, int64_t pitch) {
  return load(memory, at, pitch, side, rowBytes);
}

void MatrixTiles::storeSums(Value tile, const FlatMemory &memory, Value at,
                            int64_t pitch) {
  auto [address, distance] = place(memory, at, pitch);
  LLVM::CallIntrinsicOp::create(
      b, b.getStringAttr("llvm.x86.tilestored64.internal"),
      ValueRange{count(side), count(rowBytes), address, distance, tile});
}

Value MatrixTiles::loadA(const FlatMemory &memory, Value at, int64_t pitch,
                         int64_t k) {
  return load(memory, at, pitch, side, 2 * k);
}

Value MatrixTiles::loadB(const FlatMemory &memory, Value at, int64_t pitch,
                         int64_t k) {
  return load(memory, at, pitch, k / 2, rowBytes);
}

Value MatrixTiles::multiplyAdd(Value sums, Value a, Value b, int64_t k) {
  return call("llvm.x86.tdpbf16ps.internal",
              {count(side), count(rowBytes), count(2 * k), sums, a, b});
}

Value MatrixTiles::interleave(Value even, Value odd) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < side; ++i)
    order.append({i, side + i});
  return vector::ShuffleOp::create(b, even, odd, order);
}

void MatrixTiles::transposePairs(MutableArrayRef<Value> lines) {
  Type words = lines.front().getType();
  auto pairs = VectorType::get({side}, b.getI32Type());
  for (Value &line : lines)
    line = vector::BitCastOp::create(b, pairs, line);
  b.transposeSquare(lines);
  for (Value &line : lines)
    line = vector::BitCastOp::create(b, words, line);
}
