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

/// A part without gaps begins at a multiple of this, as kernels take of a
/// tensor of its own.
constexpr int64_t kAlignedBytes = 16;
/// Shorter rows, of more elements than this, are better off in a copy.
constexpr int64_t kShortRow = 16, kFewElements = 1 << 14;

/// Returns the place of the box that begins at `offsets`, if it is rows of one
/// distance.
std::optional<Place> placeOf(RankedTensorType whole, ArrayRef<int64_t> offsets,
                             ArrayRef<int64_t> sizes) {
  struct Run {
    int64_t size, stride;
  };
  if (llvm::is_contained(sizes, 0))
    return std::nullopt;
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
  std::optional<int64_t> own = rowsOf(kernel);
  if (own && *own != rows.getCount())
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
    for (KernelOp kernel : llvm::to_vector(function.getOps<KernelOp>()))
      if (auto reshape = onlyOpOf<ReshapeOp>(kernel))
        renameInPlace(kernel, reshape);
    // What is left to copy of a concatenation may read slices in place.
    for (KernelOp kernel : llvm::to_vector(function.getOps<KernelOp>()))
      if (auto concat = onlyOpOf<ConcatOp>(kernel))
        writeInPlace(kernel, concat);
    for (KernelOp kernel : llvm::to_vector(function.getOps<KernelOp>()))
      if (auto slice = onlyOpOf<SliceOp>(kernel))
        readInPlace(kernel, slice);
  }

private:
  /// An anchor reads the operand of a reshape.
  static void renameInPlace(KernelOp kernel, ReshapeOp reshape) {
    OpBuilder builder(kernel);
    kernel.replaceAllUsesWith(ReshapeOp::create(builder, reshape.getLoc(),
                                                reshape.getType(),
                                                kernel.getInputs()[0])
                                  ->getResults());
    kernel.erase();
  }

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
    if (!place)
      return;
    OpBuilder builder(kernel);
    auto type =
        RankedTensorType::get(slice.getType().getShape(),
                              slice.getType().getElementType(), place->rows);
    auto part = PartOp::create(builder, kernel.getLoc(), type,
                               kernel.getInputs()[0], place->offset);
    takePart(kernel.getResult(0), part);
    if (!kernel->use_empty()) {
      // Copies from other places have the same kernel.
      auto copied = copy(builder, kernel, part, slice.getType());
      kernel.replaceAllUsesWith(ValueRange(copied));
    }
    if (part.use_empty())
      part.erase();
    kernel.erase();
  }

  /// Whether what uses a value can read it with its gaps.
  static bool readsInPlace(OpOperand &use, RowsAttr rows) {
    auto kernel = dyn_cast<KernelOp>(use.getOwner());
    unsigned input = use.getOperandNumber();
    return kernel && input < kernel.getInputs().size() &&
           (!rows ||
            runsOver(rows, kernel, kernel.getBody().getArgument(input)));
  }

  /// Makes the users of `value`, and of reshapes of it, take `part` where they
  /// can.
  static void takePart(Value value, PartOp part) {
    RowsAttr rows = RowsAttr::of(part.getType());
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
      if (auto reshape = dyn_cast<ReshapeOp>(use.getOwner())) {
        OpBuilder builder(reshape);
        auto type =
            RankedTensorType::get(reshape.getType().getShape(),
                                  reshape.getType().getElementType(), rows);
        auto reshaped = PartOp::create(builder, reshape.getLoc(), type,
                                       part.getInput(), part.getOffset());
        takePart(reshape, reshaped);
        if (reshaped.use_empty())
          reshaped.erase();
        if (reshape.use_empty())
          reshape.erase();
      } else if (readsInPlace(use, rows)) {
        use.set(part);
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Concatenations
  //===--------------------------------------------------------------------===//

  static void writeInPlace(KernelOp kernel, ConcatOp concat) {
    SmallVector<Place> places;
    SmallVector<int64_t> begin(concat.getType().getRank(), 0);
    for (Value part : concat.getInputs()) {
      ArrayRef<int64_t> sizes = tensorType(part).getShape();
      std::optional<Place> place = ::placeOf(concat.getType(), begin, sizes);
      if (!place)
        return;
      places.push_back(*place);
      begin[concat.getDim()] += sizes[concat.getDim()];
    }
    if (!isWorthIt(kernel, concat, places))
      return;
    OpBuilder builder(kernel);
    Parts parts{AssembleOp::create(builder, kernel.getLoc(), concat.getType(),
                                   ValueRange(), ArrayRef<int64_t>())};
    for (auto [operand, place] : llvm::zip_equal(concat.getInputs(), places)) {
      auto argument = cast<BlockArgument>(operand);
      write(kernel->getOpOperand(argument.getArgNumber()),
            /*isLast=*/argument.hasOneUse(), place, parts);
    }
    parts.whole.setOffsets(parts.offsets);
    kernel.getResult(0).replaceAllUsesWith(parts.whole.getResult());
    SmallVector<Value> inputs(kernel.getInputs());
    kernel.erase();
    for (Value input : inputs)
      eraseUnusedReshapes(input);
  }

  /// Whether kernels write most of the parts, or there are so many that copies
  /// with a kernel for all places are better than a kernel for each.
  static bool isWorthIt(KernelOp kernel, ConcatOp concat,
                        ArrayRef<Place> places) {
    constexpr size_t many = 8;
    size_t written = 0;
    for (auto [operand, place] : llvm::zip_equal(concat.getInputs(), places)) {
      unsigned number = cast<BlockArgument>(operand).getArgNumber();
      Value value = unshaped(kernel.getInputs()[number]);
      written += value.getDefiningOp<AssembleOp>() ||
                 (makerOf(value) && !place.rows) || canWrite(value, place.rows);
    }
    return 2 * written >= places.size() || places.size() > many;
  }

  /// The operands of an mp.assemble that is being built. They are in the IR, as
  /// kernels that get more results are replaced.
  struct Parts {
    AssembleOp whole;
    SmallVector<int64_t> offsets = {};
    void add(Value value, int64_t offset) {
      whole.getPartsMutable().append(value);
      offsets.push_back(offset);
    }
  };

  static bool isPart(Value value) {
    return llvm::any_of(value.getUsers(),
                        [](Operation *user) { return isa<AssembleOp>(user); });
  }

  /// Adds the value of `input` in its place. `isLast`: whether the
  /// concatenation takes it once.
  static void write(OpOperand &input, bool isLast, const Place &place,
                    Parts &parts) {
    Value value = unshaped(input.get());
    // Without gaps, others can read it where it is.
    bool isMade = value.getDefiningOp<AssembleOp>() || makerOf(value);
    if (isMade && isLast && !place.rows && !isPart(value))
      return parts.add(value, place.offset);
    if (auto inner = value.getDefiningOp<AssembleOp>())
      if (writeParts(inner, place, parts))
        return;
    auto concat = cast<KernelOp>(input.getOwner());
    RankedTensorType type = typeIn(place, input.get());
    if (isLast && isOnlyUse(input) && canWrite(value, place.rows)) {
      value.setType(type);
      return parts.add(value, place.offset);
    }
    OpBuilder builder(parts.whole);
    parts.add(canWrite(value, place.rows)
                  ? addResult(cast<OpResult>(value), type)
                  : copy(builder, concat, input.get(), type),
              place.offset);
  }

  /// Writes the parts of `inner` once more, as parts of what it is a part of:
  /// they lie in the same rows.
  static bool writeParts(AssembleOp inner, const Place &place, Parts &parts) {
    if (!place.rows)
      return false;
    int64_t rows = place.rows.getCount(),
            columns = tensorType(inner).getNumElements() / rows;
    for (auto [part, offset] :
         llvm::zip_equal(inner.getParts(), inner.getOffsets())) {
      RowsAttr own = RowsAttr::of(part.getType());
      if (!own || own.getCount() != rows || own.getStride() != columns ||
          offset >= columns || !canWrite(part, place.rows, own))
        return false;
    }
    // A kernel that makes several of the parts is replaced for each of them.
    for (auto [i, offset] : llvm::enumerate(inner.getOffsets())) {
      auto part = cast<OpResult>(inner.getParts()[i]);
      int64_t aligned = std::min(place.rows.getAligned(),
                                 RowsAttr::of(part.getType()).getAligned());
      Place at{place.offset + offset,
               RowsAttr::get(inner.getContext(), rows, place.rows.getStride(),
                             aligned)};
      parts.add(addResult(part, typeIn(at, part)), at.offset);
    }
    return true;
  }

  static RankedTensorType typeIn(const Place &place, Value value) {
    auto type = tensorType(value);
    return RankedTensorType::get(type.getShape(), type.getElementType(),
                                 place.rows);
  }

  /// Returns the kernel that makes a value whether or not a flag is set, or
  /// null.
  static KernelOp makerOf(Value value) {
    auto maker = value.getDefiningOp<KernelOp>();
    return maker && !maker.getPredicate() ? maker : KernelOp();
  }

  /// Whether the kernel that makes a value can write it as rows; `own`: the
  /// layout that it has.
  static bool canWrite(Value value, RowsAttr rows, RowsAttr own = {}) {
    KernelOp maker = makerOf(value);
    if (!maker || isAnchored(maker) || RowsAttr::of(value.getType()) != own)
      return false;
    Operation *yield = maker.getBody().front().getTerminator();
    return !rows ||
           runsOver(rows, maker,
                    yield->getOperand(cast<OpResult>(value).getResultNumber()));
  }

  /// Whether nothing else uses what `use` takes, or what that is a reshape of.
  static bool isOnlyUse(OpOperand &use) {
    Value value = use.get();
    while (value.hasOneUse() && value.getDefiningOp<ReshapeOp>())
      value = value.getDefiningOp<ReshapeOp>().getInput();
    return value.hasOneUse() && !value.getDefiningOp<ReshapeOp>();
  }

  /// Makes a kernel like `owner` that copies `from`.
  static Value copy(OpBuilder &builder, KernelOp owner, Value from,
                    RankedTensorType type) {
    auto kernel = KernelOp::create(builder, owner.getLoc(), TypeRange(type),
                                   from, Value(), owner.getOpsAttr());
    Block &block = kernel.getBody().emplaceBlock();
    auto plain = tensorType(from);
    Value argument = block.addArgument(
        RankedTensorType::get(plain.getShape(), plain.getElementType()),
        from.getLoc());
    auto inner = OpBuilder::atBlockEnd(&block);
    YieldOp::create(inner, owner.getLoc(), argument);
    return kernel.getResult(0);
  }

  /// Makes a kernel yield what it yields as `result` once more, and returns
  /// that.
  static Value addResult(OpResult result, RankedTensorType type) {
    auto kernel = cast<KernelOp>(result.getOwner());
    OpBuilder builder(kernel);
    auto types = llvm::to_vector(kernel.getResultTypes());
    types.push_back(type);
    auto more =
        KernelOp::create(builder, kernel.getLoc(), types, kernel.getInputs(),
                         kernel.getPredicate(), kernel.getOpsAttr());
    more->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    more.getBody().takeBody(kernel.getBody());
    Operation *yield = more.getBody().front().getTerminator();
    yield->insertOperands(yield->getNumOperands(),
                          yield->getOperand(result.getResultNumber()));
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
