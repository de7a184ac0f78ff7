//===- RemoveCopies.cpp - slices and concatenations in place --------------===//
//
// A kernel that reads a slice can read the sliced tensor, and one whose result
// is part of a concatenation can write it there, if it runs over rows and
// columns: the rows are then further apart. Slices and concatenations at
// different places then have the same kernels, as places are arguments.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/View.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelShape.h"

namespace mp {
#define GEN_PASS_DEF_REMOVECOPIES
#include "passes/kernels/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// The place of a box of elements within a tensor.
struct Place {
  int64_t offset = 0;
  RowsAttr rows; ///< null: no gaps
};

/// The first element of a part without gaps is this far from others, so that
/// it is aligned as a tensor of its own is.
constexpr int64_t kAlignedBytes = 256;
/// Shorter rows, of more elements than this, are better off in a copy.
constexpr int64_t kShortRow = 16, kFewElements = 1 << 14;

/// Returns the place of the box that begins at `offsets`, if it is rows of one
/// distance.
std::optional<Place> placeOf(RankedTensorType whole, ArrayRef<int64_t> offsets,
                             ArrayRef<int64_t> sizes) {
  struct Run {
    int64_t size, stride;
  };
  SmallVector<Run> runs; // the last dimension first
  int64_t stride = 1;
  Place place;
  for (int64_t dim = whole.getRank() - 1; dim >= 0; --dim) {
    place.offset += offsets[dim] * stride;
    if (!runs.empty() && runs.back().size * runs.back().stride == stride)
      runs.back().size *= sizes[dim];
    else if (sizes[dim] != 1)
      runs.push_back({sizes[dim], stride});
    stride *= whole.getDimSize(dim);
  }
  if (runs.empty() || runs.size() > 2 || runs.front().stride != 1)
    return std::nullopt;
  if (runs.size() == 1) {
    int64_t bits = whole.getElementTypeBitWidth();
    bool isAligned =
        place.offset * std::max<int64_t>(bits, 8) / 8 % kAlignedBytes == 0;
    return isAligned ? std::optional(place) : std::nullopt;
  }
  if (runs[0].size < kShortRow && runs[0].size * runs[1].size > kFewElements)
    return std::nullopt;
  constexpr uint64_t most = 16;
  uint64_t distance = uint64_t(place.offset) | uint64_t(runs[1].stride) | most;
  place.rows = RowsAttr::get(whole.getContext(), runs[1].size, runs[1].stride,
                             distance & (~distance + 1));
  return place;
}

/// Returns the only op of a kernel that moves elements and does nothing else.
template <typename Op> Op onlyOpOf(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  bool isAlone = llvm::hasNItems(body, 2) && !kernel.getPredicate();
  return isAlone ? dyn_cast<Op>(body.front()) : Op();
}

bool isAnchored(KernelOp kernel) {
  return !kernel.getBody().front().getOps<AnchorOpInterface>().empty();
}

/// Whether the loops of a kernel, which has no gaps so far or others in as many
/// rows, are the rows and columns of this layout, and see all of `inner`, an
/// argument or a yielded value, at once.
bool runsOver(RowsAttr rows, KernelOp kernel, Value inner) {
  for (Type type :
       llvm::concat<const Type>(llvm::to_vector(kernel->getOperandTypes()),
                                llvm::to_vector(kernel->getResultTypes())))
    if (auto other = RowsAttr::of(type);
        other && other.getCount() != rows.getCount())
      return false;
  return !isAnchored(kernel) &&
         isWholeInRows(kernel.getBody().front(), rows.getCount(), inner);
}

/// Returns the value without the reshapes that it went through between
/// kernels.
Value unshaped(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

struct RemoveCopies : mp::impl::RemoveCopiesBase<RemoveCopies> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    // What is left to copy of a concatenation may read slices in place.
    for (KernelOp kernel : llvm::to_vector(function.getOps<KernelOp>()))
      if (auto concat = onlyOpOf<ConcatOp>(kernel))
        writeInPlace(kernel, concat);
    for (KernelOp kernel : llvm::to_vector(function.getOps<KernelOp>()))
      if (auto slice = onlyOpOf<SliceOp>(kernel))
        readInPlace(kernel, slice);
  }

private:
  //===--------------------------------------------------------------------===//
  // Slices
  //===--------------------------------------------------------------------===//

  static std::optional<Place> placeOf(SliceOp slice) {
    for (int64_t dim = 0; dim < slice.getType().getRank(); ++dim)
      if (slice.strideOf(dim) != 1)
        return std::nullopt;
    return ::placeOf(tensorType(slice.getInput()), slice.getOffsets(),
                     slice.getType().getShape());
  }

  static void readInPlace(KernelOp kernel, SliceOp slice) {
    std::optional<Place> place = placeOf(slice);
    Value result = kernel.getResult(0);
    if (!place || !areAllKernels(result, place->rows))
      return;
    OpBuilder builder(kernel);
    auto type =
        RankedTensorType::get(slice.getType().getShape(),
                              slice.getType().getElementType(), place->rows);
    Value part = PartOp::create(builder, kernel.getLoc(), type,
                                kernel.getInputs()[0], place->offset);
    takePart(result, part);
    kernel.erase();
  }

  /// Whether all that use a value, or a reshape of it, can read it with its
  /// gaps.
  static bool areAllKernels(Value value, RowsAttr rows) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      if (auto reshape = dyn_cast<ReshapeOp>(use.getOwner()))
        return areAllKernels(reshape, rows);
      auto kernel = dyn_cast<KernelOp>(use.getOwner());
      unsigned input = use.getOperandNumber();
      return kernel && input < kernel.getInputs().size() &&
             (!rows ||
              runsOver(rows, kernel, kernel.getBody().getArgument(input)));
    });
  }

  /// Makes the users of `value` take `part`, and reshapes take its layout.
  static void takePart(Value value, Value part) {
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
      auto reshape = dyn_cast<ReshapeOp>(use.getOwner());
      if (!reshape) {
        use.set(part);
        continue;
      }
      auto made = part.getDefiningOp<PartOp>();
      OpBuilder builder(reshape);
      auto type = RankedTensorType::get(reshape.getType().getShape(),
                                        reshape.getType().getElementType(),
                                        tensorType(part).getEncoding());
      Value reshaped = PartOp::create(builder, reshape.getLoc(), type,
                                      made.getInput(), made.getOffset());
      takePart(reshape, reshaped);
      reshape.erase();
    }
    if (part.use_empty())
      part.getDefiningOp()->erase();
  }

  //===--------------------------------------------------------------------===//
  // Concatenations
  //===--------------------------------------------------------------------===//

  static void writeInPlace(KernelOp kernel, ConcatOp concat) {
    SmallVector<Place> places;
    SmallVector<int64_t> begin(concat.getType().getRank(), 0), offsets;
    for (Value part : concat.getInputs()) {
      ArrayRef<int64_t> sizes = tensorType(part).getShape();
      std::optional<Place> place = ::placeOf(concat.getType(), begin, sizes);
      if (!place)
        return;
      places.push_back(*place);
      offsets.push_back(place->offset);
      begin[concat.getDim()] += sizes[concat.getDim()];
    }
    SmallVector<Value> parts;
    for (auto [operand, place] : llvm::zip_equal(concat.getInputs(), places)) {
      auto argument = cast<BlockArgument>(operand);
      OpOperand &input = kernel->getOpOperand(argument.getArgNumber());
      bool isLast = argument.hasOneUse();
      parts.push_back(write(input, isLast, place.rows));
    }
    OpBuilder builder(kernel);
    auto whole = AssembleOp::create(builder, kernel.getLoc(), concat.getType(),
                                    parts, offsets);
    kernel.getResult(0).replaceAllUsesWith(whole);
    SmallVector<Value> inputs(kernel.getInputs());
    kernel.erase();
    for (Value input : inputs)
      eraseUnusedReshapes(input);
  }

  /// Returns a kernel's result that has the value of `input` and a layout.
  /// `isLast`: whether the concatenation takes the value once.
  static Value write(OpOperand &input, bool isLast, RowsAttr rows) {
    auto given = tensorType(input.get());
    auto type =
        RankedTensorType::get(given.getShape(), given.getElementType(), rows);
    auto result = dyn_cast<OpResult>(unshaped(input.get()));
    auto maker = result ? dyn_cast<KernelOp>(result.getOwner()) : KernelOp();
    if (!maker || maker.getPredicate() || RowsAttr::of(result.getType()))
      return copy(input, type);
    unsigned number = result.getResultNumber();
    Operation *yield = maker.getBody().front().getTerminator();
    if (rows && !runsOver(rows, maker, yield->getOperand(number)))
      return copy(input, type);
    if (isLast && isOnlyUse(input)) {
      result.setType(type);
      return result;
    }
    return isAnchored(maker) ? copy(input, type)
                             : addResult(maker, number, type);
  }

  /// Whether nothing else uses what `use` takes, or what that is a reshape of.
  static bool isOnlyUse(OpOperand &use) {
    Value value = use.get();
    while (value.hasOneUse() && value.getDefiningOp<ReshapeOp>())
      value = value.getDefiningOp<ReshapeOp>().getInput();
    return value.hasOneUse() && !value.getDefiningOp<ReshapeOp>();
  }

  static Value copy(OpOperand &input, RankedTensorType type) {
    OpBuilder builder(input.getOwner());
    auto owner = cast<KernelOp>(input.getOwner());
    auto kernel = KernelOp::create(builder, owner.getLoc(), TypeRange(type),
                                   input.get(), Value(), owner.getOpsAttr());
    Block &block = kernel.getBody().emplaceBlock();
    Value argument =
        block.addArgument(input.get().getType(), input.get().getLoc());
    auto inner = OpBuilder::atBlockEnd(&block);
    YieldOp::create(inner, owner.getLoc(), argument);
    return kernel.getResult(0);
  }

  /// Makes a kernel yield one of its values once more, and returns that.
  static Value addResult(KernelOp kernel, unsigned number,
                         RankedTensorType type) {
    OpBuilder builder(kernel);
    auto types = llvm::to_vector(kernel.getResultTypes());
    types.push_back(type);
    auto more =
        KernelOp::create(builder, kernel.getLoc(), types, kernel.getInputs(),
                         kernel.getPredicate(), kernel.getOpsAttr());
    more->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    more.getBody().takeBody(kernel.getBody());
    Operation *yield = more.getBody().front().getTerminator();
    yield->insertOperands(yield->getNumOperands(), yield->getOperand(number));
    kernel.replaceAllUsesWith(more.getResults().drop_back());
    kernel.erase();
    return more.getResults().back();
  }

  static void eraseUnusedReshapes(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      if (!reshape.use_empty())
        return;
      value = reshape.getInput();
      reshape.erase();
    }
  }
};
} // namespace
