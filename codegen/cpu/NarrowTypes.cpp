//===- NarrowTypes.cpp - types that LLVM must not see ---------------------===//
#include "codegen/cpu/NarrowTypes.h"
#include "codegen/cpu/RoundingFacts.h"
#include "codegen/cpu/RoundingInstruction.h"
#include "codegen/cpu/nest/PairedLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace {

/// Returns `like` (a scalar or a vector) with another element type.
Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

Value splat(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, attr);
}

/// The steps that a rounding from f32 to bf16 may leave out.
struct Rounding {
  bool isExact = false;     ///< all: the operand is a bf16 value
  bool hasShortNaN = false; ///< the one for NaN, which comes through as it is
  bool isPaired = false;    ///< the even elements of f32 come first
};

/// Returns f32 `x` rounded to bf16 in the upper half of its bits; the lower
/// half is arbitrary. A NaN keeps its upper payload and, unless it is short,
/// turns quiet, as in APFloat.
Value roundToUpperHalf(ImplicitLocOpBuilder &b, Value x, Rounding rounding) {
  Type i32 = withElement(x.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, i32, x);
  if (rounding.isExact)
    return bits;
  Value sixteen = splat(b, i32, 16);
  Value upper = arith::ShRUIOp::create(b, bits, sixteen);
  Value odd = arith::AndIOp::create(b, upper, splat(b, i32, 1));
  Value half = arith::AddIOp::create(b, odd, splat(b, i32, 0x7fff));
  Value rounded = arith::AddIOp::create(b, bits, half);
  if (rounding.hasShortNaN)
    return rounded;
  Value quiet = arith::OrIOp::create(b, bits, splat(b, i32, 0x400000));
  Value nan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, nan, quiet, rounded);
}

/// Returns the upper 16 bits of each i32, as i16.
Value upperHalves(ImplicitLocOpBuilder &b, Value bits) {
  Type i16 = withElement(bits.getType(), b.getI16Type());
  auto vector = dyn_cast<VectorType>(bits.getType());
  if (!vector || vector.getRank() != 1 || vector.isScalable()) {
    Value upper = arith::ShRUIOp::create(b, bits, splat(b, bits.getType(), 16));
    return arith::TruncIOp::create(b, i16, upper);
  }
  // They are the odd lanes of the same register: one permutation instead of
  // shift and narrow (little endian).
  int64_t lanes = vector.getNumElements();
  Value halves = vector::BitCastOp::create(
      b, VectorType::get({2 * lanes}, b.getI16Type()), bits);
  SmallVector<int64_t> oddLanes;
  for (int64_t lane = 0; lane < lanes; ++lane)
    oddLanes.push_back(2 * lane + 1);
  return vector::ShuffleOp::create(b, halves, halves, oddLanes);
}

/// `count` lanes of x and then y, from lane `at` on.
Value lanesOf(ImplicitLocOpBuilder &b, Value x, Value y, int64_t at,
              int64_t count) {
  auto lanes = llvm::to_vector(llvm::seq(at, at + count));
  return vector::ShuffleOp::create(b, x, y, lanes);
}

/// Words whose lower halves are the even elements, and whose upper halves are
/// the odd ones.
Value wordsOf(ImplicitLocOpBuilder &b, Value halves) {
  int64_t lanes = cast<VectorType>(halves.getType()).getNumElements();
  return vector::BitCastOp::create(
      b, VectorType::get({lanes / 2}, b.getI32Type()), halves);
}

/// Widens bf16 to the bits of f32, the even elements first (PairedLanes.h).
Value widenPairs(ImplicitLocOpBuilder &b, Value halves) {
  Value words = wordsOf(b, halves);
  Value even = arith::ShLIOp::create(b, words, splat(b, words.getType(), 16));
  Value odd = arith::AndIOp::create(
      b, words, splat(b, words.getType(), static_cast<int32_t>(0xffff0000)));
  int64_t lanes = cast<VectorType>(words.getType()).getNumElements();
  return lanesOf(b, even, odd, 0, 2 * lanes);
}

/// Returns the upper halves of the bits of f32, of which the even elements come
/// first, in order.
Value joinPairs(ImplicitLocOpBuilder &b, Value bits) {
  int64_t lanes = cast<VectorType>(bits.getType()).getNumElements();
  Value even = lanesOf(b, bits, bits, 0, lanes / 2);
  Value odd = lanesOf(b, bits, bits, lanes / 2, lanes / 2);
  even = arith::ShRUIOp::create(b, even, splat(b, even.getType(), 16));
  odd = arith::AndIOp::create(
      b, odd, splat(b, odd.getType(), static_cast<int32_t>(0xffff0000)));
  Value words = arith::OrIOp::create(b, even, odd);
  return vector::BitCastOp::create(b, VectorType::get({lanes}, b.getI16Type()),
                                   words);
}

/// Puts elements of which the even ones come first in order.
Value interleaveHalves(ImplicitLocOpBuilder &b, Value halves) {
  int64_t lanes = cast<VectorType>(halves.getType()).getNumElements();
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < lanes / 2; ++i)
    order.append({i, lanes / 2 + i});
  return vector::ShuffleOp::create(b, halves, halves, order);
}

/// Rounds f64 to f32 to odd: inexact results get the last bit, so that a second
/// rounding to fewer bits equals a single rounding.
Value roundToOdd(ImplicitLocOpBuilder &b, Value x) {
  Type f32 = withElement(x.getType(), b.getF32Type());
  Type i32 = withElement(x.getType(), b.getI32Type());
  Value near = arith::TruncFOp::create(b, f32, x);
  Value back = arith::ExtFOp::create(b, x.getType(), near);
  Value inexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
  Value backIsBelow =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, back, x);
  Value backIsAbove =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, back, x);
  Type f64 = x.getType();
  TypedAttr zero = b.getZeroAttr(f64);
  Value negative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x,
                                         arith::ConstantOp::create(b, zero));
  // The value is too far from zero: step back before setting the last bit.
  Value over = arith::SelectOp::create(b, negative, backIsBelow, backIsAbove);
  Value bits = arith::BitcastOp::create(b, i32, near);
  Value toward =
      arith::SubIOp::create(b, bits, arith::ExtUIOp::create(b, i32, over));
  Value sticky =
      arith::OrIOp::create(b, toward, arith::ExtUIOp::create(b, i32, inexact));
  return arith::BitcastOp::create(b, f32, sticky);
}

bool isBF16(Type type) { return getElementTypeOrSelf(type).isBF16(); }
/// Whether LLVM sees the float as bits only: its conversions are arithmetic by
/// now.
bool isBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) &&
         (element.isBF16() || element.getIntOrFloatBitWidth() == 8);
}
Type bitsOf(Type element) {
  return IntegerType::get(element.getContext(),
                          element.getIntOrFloatBitWidth());
}
bool isF64(Type type) { return getElementTypeOrSelf(type).isF64(); }

using Roundings = llvm::DenseMap<Operation *, Rounding>;

Roundings findRoundings(ModuleOp module) {
  mp::cpu::RoundingFacts facts;
  Roundings roundings;
  module.walk([&](arith::TruncFOp op) {
    if (isBF16(op.getType()))
      roundings[op] = {facts.isBF16Value(op.getIn()),
                       facts.hasShortNaN(op.getIn()),
                       op->hasAttr(mp::cpu::kPairedLanesAttr)};
  });
  return roundings;
}

/// Returns f32 `x` rounded to bf16, as i16.
Value roundToHalves(ImplicitLocOpBuilder &b, Value x, Rounding rounding,
                    bool hasInstruction) {
  bool takesInstruction =
      hasInstruction && !rounding.isExact && mp::cpu::canRoundByInstruction(x);
  auto byIntegers = [&] {
    Value bits = roundToUpperHalf(b, x, rounding);
    // The result of the instruction is put in order afterwards.
    return rounding.isPaired && !takesInstruction ? joinPairs(b, bits)
                                                  : upperHalves(b, bits);
  };
  if (!takesInstruction)
    return byIntegers();
  Value halves = mp::cpu::roundByInstruction(b, x, byIntegers);
  return rounding.isPaired ? interleaveHalves(b, halves) : halves;
}

/// Makes bf16, or f16 from f64, of `x`: bf16 through its bits, both in one
/// rounding.
void expandTruncation(arith::TruncFOp op, const Roundings &roundings,
                      bool hasInstruction) {
  bool toBF16 = isBF16(op.getType());
  if (!toBF16 && !isF64(op.getIn().getType()))
    return;
  if (!toBF16 && !getElementTypeOrSelf(op.getType()).isF16())
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value x =
      isF64(op.getIn().getType()) ? roundToOdd(b, op.getIn()) : op.getIn();
  Value result =
      toBF16 ? arith::BitcastOp::create(
                   b, op.getType(),
                   roundToHalves(b, x, roundings.lookup(op), hasInstruction))
                   .getResult()
             : arith::TruncFOp::create(b, op.getType(), x).getResult();
  op.replaceAllUsesWith(result);
  op.erase();
}

void expandExtension(arith::ExtFOp op, const Roundings &roundings) {
  if (!isBF16(op.getIn().getType()))
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type type = op.getIn().getType();
  Type i32 = withElement(type, b.getI32Type());
  Type f32 = withElement(type, b.getF32Type());
  Value bits;
  auto rounding = op.getIn().getDefiningOp<arith::TruncFOp>();
  if (rounding && getElementTypeOrSelf(rounding.getIn().getType()).isF32()) {
    // The value is rounded only for arithmetic: it stays in its 32 bits.
    Rounding left = roundings.lookup(rounding);
    bits = roundToUpperHalf(b, rounding.getIn(), left);
    if (!left.isExact)
      bits = arith::AndIOp::create(
          b, bits, splat(b, i32, static_cast<int32_t>(0xffff0000)));
  } else {
    Value half = arith::BitcastOp::create(b, withElement(type, b.getI16Type()),
                                          op.getIn());
    bits = op->hasAttr(mp::cpu::kPairedLanesAttr)
               ? widenPairs(b, half)
               : arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i32, half),
                                       splat(b, i32, 16))
                     .getResult();
  }
  Value result = arith::BitcastOp::create(b, f32, bits);
  if (result.getType() != op.getType())
    result = arith::ExtFOp::create(b, op.getType(), result);
  op.replaceAllUsesWith(result);
  op.erase();
}

/// Makes arithmetic, comparisons and the like on bf16 go through f32.
LogicalResult emulateArithmetic(ModuleOp module) {
  MLIRContext *context = module.getContext();
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(
      converter, {BFloat16Type::get(context)}, Float32Type::get(context));
  RewritePatternSet patterns(context);
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  ConversionTarget target(*context);
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Returns the type that stands for `type` from here on.
Type storageType(Type type) {
  Builder b(type.getContext());
  if (auto memref = dyn_cast<MemRefType>(type)) {
    if (memref.getElementType().isInteger(1))
      return MemRefType::Builder(memref).setElementType(b.getI8Type());
    if (isBits(memref.getElementType()))
      return MemRefType::Builder(memref).setElementType(
          bitsOf(memref.getElementType()));
  } else if (isBits(type)) {
    return withElement(type, bitsOf(getElementTypeOrSelf(type)));
  }
  return type;
}

/// Makes a load or store of i1 work on the bytes in memory.
void storeBytes(Operation *op) {
  if (!isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
           vector::MaskedLoadOp, vector::MaskedStoreOp, vector::TransferReadOp,
           vector::TransferWriteOp>(op))
    return;
  auto isBitMemRef = [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref && memref.getElementType().isInteger(1);
  };
  if (llvm::none_of(op->getOperandTypes(), isBitMemRef))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto toBytes = [&](OpOperand &operand) {
    Type bytes = withElement(operand.get().getType(), b.getI8Type());
    operand.set(arith::ExtUIOp::create(b, bytes, operand.get()));
  };
  if (auto store = dyn_cast<memref::StoreOp>(op))
    toBytes(store.getValueMutable());
  else if (auto store = dyn_cast<vector::StoreOp>(op))
    toBytes(store.getValueToStoreMutable());
  else if (auto store = dyn_cast<vector::MaskedStoreOp>(op))
    toBytes(store.getValueToStoreMutable());
  else if (auto write = dyn_cast<vector::TransferWriteOp>(op))
    toBytes(write.getValueToStoreMutable());
  else if (auto load = dyn_cast<vector::MaskedLoadOp>(op))
    toBytes(load.getPassThruMutable());
  else if (auto read = dyn_cast<vector::TransferReadOp>(op))
    toBytes(read.getPaddingMutable());

  if (op->getNumResults() == 0)
    return;
  Value loaded = op->getResult(0);
  Type bits = loaded.getType();
  loaded.setType(withElement(bits, b.getI8Type()));
  b.setInsertionPointAfter(op);
  Value bit = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loaded,
                                    splat(b, loaded.getType(), 0));
  loaded.replaceAllUsesExcept(bit, bit.getDefiningOp());
}

/// Replaces types in place: every op that is left treats these floats as bits.
void replaceTypes(Operation *op) {
  // A signature is LLVM's, and so is what is cast for one.
  if (isa<LLVM::CallIntrinsicOp, LLVM::BitcastOp>(op))
    return;
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && isBits(constant.getType())) {
    Type type = storageType(constant.getType());
    if (auto value = dyn_cast<FloatAttr>(constant.getValue()))
      constant.setValueAttr(
          IntegerAttr::get(type, value.getValue().bitcastToAPInt()));
    else
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue())
                                .bitcast(getElementTypeOrSelf(type)));
  }
  for (Value result : op->getResults())
    result.setType(storageType(result.getType()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(storageType(argument.getType()));
  if (auto func = dyn_cast<func::FuncOp>(op); func && !func.isExternal())
    func.setFunctionType(FunctionType::get(func.getContext(),
                                           func.front().getArgumentTypes(),
                                           func.getResultTypes()));
}

} // namespace

LogicalResult mp::cpu::lowerNarrowTypes(ModuleOp module, bool hasInstruction) {
  if (failed(emulateArithmetic(module)))
    return failure();
  Roundings roundings = findRoundings(module);
  // Extensions come first: they look at the roundings that feed them.
  module.walk([&](arith::ExtFOp op) { expandExtension(op, roundings); });
  module.walk([&](arith::TruncFOp op) {
    if (op.use_empty())
      op.erase();
    else
      expandTruncation(op, roundings, hasInstruction);
  });
  module.walk([](Operation *op) { storeBytes(op); });
  module.walk([](Operation *op) { replaceTypes(op); });
  module.walk([](arith::BitcastOp op) {
    if (op.getIn().getType() != op.getType())
      return;
    op.replaceAllUsesWith(op.getIn());
    op.erase();
  });
  return success();
}
