//===- Epilogue.cpp - the stages of a product's epilogue ------------------===//
//
// Decides which stages a product's kernel takes in, and what they read and
// write.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/contraction/Epilogue.h"
#include "codegen/Backend.h"
#include "codegen/cuda/ScalarPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

namespace {
/// An anchor's result, seen as a matrix.
struct Matrix {
  explicit Matrix(Value result) {
    shape = cast<RankedTensorType>(result.getType()).getShape();
  }

  /// Returns the space of a tensor that has the dimensions of the anchor's
  /// result that `map` keeps.
  std::optional<Space> spaceOf(AffineMap map) const {
    unsigned rank = map.getNumDims();
    if (map.isIdentity())
      return Space::Full;
    if (map.getNumResults() == 0)
      return Space::Scalar;
    if (map == AffineMap::getMultiDimIdentityMap(rank, map.getContext())
                   .getMinorSubMap(1))
      return Space::Column;
    if (map == AffineMap::getMultiDimIdentityMap(rank, map.getContext())
                   .getMajorSubMap(rank - 1))
      return Space::Row;
    return std::nullopt;
  }

  /// Returns the space of a stage, if it runs over the matrix, its columns or a
  /// scalar.
  std::optional<Space> domainOf(linalg::GenericOp stage) const {
    auto ranges = stage.getStaticLoopRanges();
    if (ArrayRef(ranges) == shape)
      return Space::Full;
    if (ranges.empty())
      return Space::Scalar;
    if (ArrayRef(ranges) == shape.take_back())
      return Space::Column;
    return std::nullopt;
  }

  /// Returns the space of a tensor that a stage of `domain` reads through
  /// `map`.
  std::optional<Space> spaceOf(AffineMap map, Space domain) const {
    if (domain == Space::Full)
      return spaceOf(map);
    if (map.getNumResults() == 0)
      return Space::Scalar;
    return map.isIdentity() ? std::optional(domain) : std::nullopt;
  }

  ArrayRef<int64_t> shape;
};

bool isReduction(linalg::GenericOp stage) {
  return stage.getNumReductionLoops() > 0;
}

/// Accepts or rejects stage by stage.
class Acceptance {
public:
  Acceptance(Operation *anchor, bool reducesColumns)
      : matrix(anchor->getResult(0)), reducesColumns(reducesColumns) {
    spaces[anchor->getResult(0)] = Space::Full;
    for (Value bias : anchor->getOperands().drop_front(2))
      spaces[bias] = Space::Column;
  }

  bool takes(linalg::GenericOp stage) {
    std::optional<Space> domain = matrix.domainOf(stage);
    if (!domain || stage.hasIndexSemantics())
      return false;
    for (OpOperand *read : readsOf(stage))
      if (!isKnown(stage, *read, *domain))
        return false;
    if (isReduction(stage))
      return takesReduction(stage, *domain);
    for (OpResult result : stage->getResults()) {
      if (!stage.getIndexingMapMatchingResult(result).isIdentity())
        return false;
      spaces[result] = *domain;
    }
    return true;
  }

private:
  bool isKnown(linalg::GenericOp stage, OpOperand &read, Space domain) {
    if (constantOf(read.get()))
      return true;
    auto space = matrix.spaceOf(stage.getMatchingIndexingMap(&read), domain);
    if (!space)
      return false;
    // A tensor has one place in the text, so all stages read it in one way.
    auto known = spaces.find(read.get());
    if (known != spaces.end())
      return known->second == *space;
    if (!isa<BlockArgument>(read.get()))
      return false;
    spaces[read.get()] = *space;
    return true;
  }

  /// A sum gets no space: no later stage can read it here.
  bool takesReduction(linalg::GenericOp stage, Space domain) {
    auto reduction = matchReduction(stage);
    if (!reduction || domain != Space::Full || !startsNeutral(stage))
      return false;
    auto space =
        matrix.spaceOf(stage.getIndexingMapMatchingResult(stage->getResult(0)));
    return space == Space::Scalar || (space == Space::Column && reducesColumns);
  }

  Matrix matrix;
  bool reducesColumns;
  DenseMap<Value, Space> spaces;
};
} // namespace

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

bool EpilogueReduction::isTotal() const {
  return cast<RankedTensorType>(stage->getResult(0).getType()).getRank() == 0;
}

Type EpilogueReduction::type() const {
  return getElementTypeOrSelf(stage->getResult(0).getType());
}

TypedAttr EpilogueReduction::start() const {
  return constantOf(linalg::GenericOp(stage).getDpsInits()[0]);
}

unsigned Epilogue::accepts(Operation *anchor, StageList stages,
                           bool reducesColumns) {
  Acceptance acceptance(anchor, reducesColumns);
  unsigned count = 0;
  for (linalg::GenericOp stage : stages) {
    if (!acceptance.takes(stage))
      break;
    ++count;
  }
  return count;
}

void Epilogue::addRead(Value value, Space space) {
  auto argument = dyn_cast<BlockArgument>(value);
  bool known = llvm::any_of(operands, [&](const EpilogueTensor &tensor) {
    return tensor.value == value;
  });
  if (argument && !known)
    operands.push_back({value, space, argument.getArgNumber()});
}

FailureOr<Epilogue> Epilogue::get(Operation *anchor, StageList stages,
                                  int64_t across) {
  Epilogue epilogue;
  epilogue.anchor = anchor->getResult(0);
  Matrix matrix(epilogue.anchor);
  epilogue.allColumns = matrix.shape.empty() ? 1 : matrix.shape.back();
  epilogue.matrixColumns = epilogue.allColumns / across;
  epilogue.allRows =
      ShapedType::getNumElements(matrix.shape) / epilogue.allColumns;
  epilogue.stages = llvm::to_vector(stages);
  for (linalg::GenericOp stage : epilogue.stages)
    for (OpOperand *read : readsOf(stage))
      epilogue.addRead(read->get(),
                       *matrix.spaceOf(stage.getMatchingIndexingMap(read),
                                       *matrix.domainOf(stage)));
  Operation *yield = anchor->getBlock()->getTerminator();
  for (OpOperand &use : yield->getOpOperands()) {
    Value value = use.get();
    auto stage = value.getDefiningOp<linalg::GenericOp>();
    if (stage && isReduction(stage))
      epilogue.reduced.push_back({stage, use.getOperandNumber()});
    else if (stage || value == epilogue.anchor)
      epilogue.results.push_back({value,
                                  stage ? *matrix.domainOf(stage) : Space::Full,
                                  use.getOperandNumber()});
    else
      return yield->emitError("expected results of the anchor or of stages "
                              "after it, got another as number ")
             << use.getOperandNumber();
  }
  return epilogue;
}

int Epilogue::width() const {
  unsigned bytes = 8;
  for (const auto &tensors : {ArrayRef(operands), ArrayRef(results)})
    for (const EpilogueTensor &tensor : tensors)
      if (tensor.space == Space::Full)
        bytes = std::min(
            bytes, storageBytes(getElementTypeOrSelf(tensor.value.getType())));
  int64_t most = std::clamp<int64_t>(16 / bytes, 2, 8);
  return std::gcd(matrixColumns, most);
}
