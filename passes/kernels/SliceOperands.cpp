//===- SliceOperands.cpp - slices of operands, not of results -------------===//
//
// A slice of an elementwise op's result is the op on slices of its operands.
// These are read in place, where the result would be stored to be sliced.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/kernels/Decompose.h"
#include "passes/kernels/KernelShape.h"

namespace mp {
#define GEN_PASS_DEF_SLICEOPERANDS
#include "passes/kernels/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct SliceOperands : mp::impl::SliceOperandsBase<SliceOperands> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    // Users come first: their slices are slices of an op before them.
    SmallVector<Operation *> ops;
    for (Operation &op : llvm::reverse(function.getBody().front()))
      if (isElementwise(&op))
        ops.push_back(&op);
    for (Operation *op : ops)
      if (isSlicedOnly(op))
        sliceOperands(op);
  }

private:
  static bool isElementwise(Operation *op) {
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return isUnitReshape(reshape);
    auto scalar = dyn_cast<ScalarOpInterface>(op);
    return scalar && !scalar.takesIndex() && op->getNumResults() == 1 &&
           op->getNumOperands() > 0;
  }

  /// Whether slices, in which no more elements are than in the result, are all
  /// that uses it.
  static bool isSlicedOnly(Operation *op) {
    int64_t left = tensorType(op->getResult(0)).getNumElements();
    for (Operation *user : op->getUsers()) {
      auto slice = dyn_cast<SliceOp>(user);
      if (!slice || !isReadByLoops(slice))
        return false;
      left -= slice.getType().getNumElements();
    }
    return !op->use_empty() && left >= 0;
  }

  static void sliceOperands(Operation *op) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      auto slice = cast<SliceOp>(user);
      OpBuilder builder(slice);
      if (auto reshape = dyn_cast<ReshapeOp>(op)) {
        Value part = sliced(builder, slice, reshape);
        slice.replaceAllUsesWith(part);
        slice.erase();
        continue;
      }
      IRMapping mapping;
      for (Value operand : op->getOperands())
        if (!mapping.contains(operand))
          mapping.map(operand, sliced(builder, slice, operand));
      Operation *part = builder.clone(*op, mapping);
      auto type = tensorType(op->getResult(0));
      part->getResult(0).setType(type.clone(slice.getType().getShape()));
      slice.replaceAllUsesWith(part->getResult(0));
      slice.erase();
    }
    op->erase();
  }

  static Value box(OpBuilder &builder, Location location, Value input,
                   ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                   ArrayRef<int64_t> strides) {
    bool hasSteps = llvm::any_of(strides, [](int64_t by) { return by != 1; });
    return SliceOp::create(builder, location, input, offsets, sizes,
                           hasSteps ? builder.getDenseI64ArrayAttr(strides)
                                    : DenseI64ArrayAttr());
  }

  /// Returns a slice of what a reshape only adds ones to, or takes ones from.
  static Value sliced(OpBuilder &builder, SliceOp slice, ReshapeOp reshape) {
    auto type = tensorType(reshape.getInput());
    SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getRank(), 1),
        strides(type.getRank(), 1);
    int64_t of = 0;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (type.getDimSize(dim) == 1)
        continue;
      while (reshape.getType().getDimSize(of) == 1)
        ++of;
      offsets[dim] = slice.getOffsets()[of];
      sizes[dim] = slice.getType().getDimSize(of);
      strides[dim] = slice.strideOf(of++);
    }
    Value part = box(builder, slice.getLoc(), reshape.getInput(), offsets,
                     sizes, strides);
    return ReshapeOp::create(builder, reshape.getLoc(), slice.getType(), part);
  }

  /// Returns what a slice of the result needs of an operand, which may lack
  /// leading dimensions and have others of size one.
  static Value sliced(OpBuilder &builder, SliceOp slice, Value operand) {
    auto type = tensorType(operand);
    auto whole = tensorType(slice.getInput());
    int64_t skipped = whole.getRank() - type.getRank();
    SmallVector<int64_t> offsets, sizes, strides;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      int64_t of = dim + skipped;
      bool isBroadcast = type.getDimSize(dim) != whole.getDimSize(of);
      offsets.push_back(isBroadcast ? 0 : slice.getOffsets()[of]);
      sizes.push_back(isBroadcast ? 1 : slice.getType().getDimSize(of));
      strides.push_back(isBroadcast ? 1 : slice.strideOf(of));
    }
    if (ArrayRef(sizes) == type.getShape())
      return operand;
    if (auto constant = operand.getDefiningOp<ConstantOp>())
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
          elements && elements.isSplat())
        return ConstantOp::create(builder, slice.getLoc(),
                                  elements.resizeSplat(type.clone(sizes)));
    return box(builder, slice.getLoc(), operand, offsets, sizes, strides);
  }
};
} // namespace
