//===- MergeDims.cpp - stages in the fewest dimensions --------------------===//
#include "codegen/stages/MergeDims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mp;

namespace {
/// Merges the dimensions [0, split) and [split, rank) of the largest stages
/// into one each; with split 0, all of them.
class Merging {
public:
  Merging(unsigned rank, unsigned split) : rank(rank), split(split) {}

  /// Whether a stage has only whole runs of these dimensions.
  bool add(linalg::GenericOp stage);
  /// Changes the stages added, and the types of all tensors of their block.
  void apply(Block &body) const;

private:
  /// The dimensions that a map has: a run each, or nothing if one is in part.
  std::optional<SmallVector<unsigned>> runsOf(AffineMap map) const;
  /// The first dimension after the run that begins with `dim`.
  unsigned end(unsigned dim) const { return dim < split ? split : rank; }
  RankedTensorType mergedType(RankedTensorType type,
                              ArrayRef<unsigned> runs) const;

  unsigned rank, split;
  SmallVector<linalg::GenericOp> stages;
  llvm::MapVector<Value, SmallVector<unsigned>> runs; ///< by tensor
};
} // namespace

std::optional<SmallVector<unsigned>> Merging::runsOf(AffineMap map) const {
  SmallVector<unsigned> found;
  for (unsigned i = 0; i < map.getNumResults();) {
    auto first = dyn_cast<AffineDimExpr>(map.getResult(i));
    if (!first || (first.getPosition() != 0 && first.getPosition() != split))
      return std::nullopt;
    for (unsigned dim = first.getPosition(); dim < end(first.getPosition());
         ++dim, ++i)
      if (i >= map.getNumResults() ||
          map.getResult(i) != getAffineDimExpr(dim, map.getContext()))
        return std::nullopt;
    found.push_back(first.getPosition() == 0 ? 0 : 1);
  }
  return found;
}

bool Merging::add(linalg::GenericOp stage) {
  if (stage.getNumLoops() == 0)
    return true;
  auto iterators = stage.getIteratorTypesArray();
  if (stage.getNumLoops() != rank || stage.hasIndexSemantics() ||
      !llvm::all_equal(ArrayRef(iterators).take_front(split)) ||
      !llvm::all_equal(ArrayRef(iterators).drop_front(split)))
    return false;
  for (OpOperand &operand : stage->getOpOperands()) {
    auto found = runsOf(stage.getMatchingIndexingMap(&operand));
    if (!found)
      return false;
    SmallVector<Value> tensors{operand.get()};
    if (stage.isDpsInit(&operand))
      tensors.push_back(stage.getTiedOpResult(&operand));
    for (Value tensor : tensors)
      if (auto [known, isNew] = runs.try_emplace(tensor, *found);
          !isNew && known->second != *found)
        return false;
  }
  stages.push_back(stage);
  return true;
}

RankedTensorType Merging::mergedType(RankedTensorType type,
                                     ArrayRef<unsigned> found) const {
  SmallVector<int64_t> shape;
  auto rest = type.getShape();
  for (unsigned run : found) {
    unsigned length = run == 0 && split ? split : rank - split;
    shape.push_back(llvm::product_of(rest.take_front(length)));
    rest = rest.drop_front(length);
  }
  return RankedTensorType::get(shape, type.getElementType());
}

void Merging::apply(Block &body) const {
  for (auto [tensor, found] : runs) {
    auto type = mergedType(cast<RankedTensorType>(tensor.getType()), found);
    if (auto constant = tensor.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(
          cast<DenseElementsAttr>(constant.getValue()).reshape(type));
    if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
      fill.getOutputs()[0].setType(type);
    tensor.setType(type);
  }
  for (linalg::GenericOp stage : stages) {
    Builder builder(stage.getContext());
    unsigned count = split ? 2 : 1;
    SmallVector<AffineMap> maps;
    for (AffineMap map : stage.getIndexingMapsArray()) {
      SmallVector<AffineExpr> dims;
      for (unsigned run : *runsOf(map))
        dims.push_back(builder.getAffineDimExpr(run));
      maps.push_back(AffineMap::get(count, 0, dims, stage.getContext()));
    }
    SmallVector<Attribute> iterators{stage.getIteratorTypes()[0]};
    if (split)
      iterators.push_back(stage.getIteratorTypes()[split]);
    stage.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
    stage.setIteratorTypesAttr(builder.getArrayAttr(iterators));
  }
}

void mp::mergeDims(Block &body) {
  unsigned rank = 0;
  for (auto stage : body.getOps<linalg::GenericOp>())
    rank = std::max(rank, stage.getNumLoops());
  for (unsigned split = 0; split < rank; ++split) {
    Merging merging(rank, split);
    if (llvm::all_of(body.getOps<linalg::GenericOp>(),
                     [&](auto stage) { return merging.add(stage); }))
      return merging.apply(body);
  }
}
