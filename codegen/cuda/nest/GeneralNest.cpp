//===- GeneralNest.cpp - a stage of any maps, alone -----------------------===//
//
// Chooses the form of a stage of any maps, alone, and prints the loops of each
// form.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/nest/GeneralNest.h"
#include "codegen/cuda/nest/GroupPrinter.h"
#include "codegen/stages/StageGroup.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::Twine;

namespace {
constexpr int64_t kBlockThreads = 256;
constexpr int64_t kTileSize = 32, kTileRows = kBlockThreads / kTileSize;

Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}
} // namespace

GeneralNest::GeneralNest(linalg::GenericOp stage, StageKernel &kernel)
    : stage(stage), kernel(kernel), sizes(stage.getStaticLoopRanges()),
      indices(sizes.size()) {
  AffineMap stored = stage.getIndexingMapMatchingResult(stage->getResult(0));
  for (AffineExpr expr : stored.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      parallel.push_back(dim.getPosition());
  for (auto [loop, type] : llvm::enumerate(stage.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      reduced.push_back(loop);
    else if (!llvm::is_contained(parallel, loop))
      parallel.insert(parallel.begin(), loop);
  if (!parallel.empty())
    lineLoop = parallel.back();
  int64_t bound = llvm::product_of(sizes);
  for (Value tensor : stage->getOperands())
    bound = std::max(bound, extentOf(tensor));
  kernel.setIndexBound(bound + kTileSize * kTileSize * kBlockThreads);
  kernel.block = kBlockThreads;
}

LogicalResult GeneralNest::print() {
  kernel.body.line("const int thread = threadIdx.x;");
  if (int tileLoop = findTileLoop(); tileLoop >= 0)
    printTiles(tileLoop);
  else if (int64_t across = threadsForResult(); across > 1)
    printTogether(across);
  else
    printItems();
  return failure(failed);
}

//===----------------------------------------------------------------------===//
// Choice of the form
//===----------------------------------------------------------------------===//

/// Whether `map` is contiguous along `loop`: it is the last dimension, and no
/// other.
bool GeneralNest::isContiguous(AffineMap map, int loop) const {
  auto line = getAffineDimExpr(loop, map.getContext());
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if ((i + 1 == map.getNumResults()) != (expr == line) ||
        (expr != line && expr.isFunctionOfDim(loop)))
      return false;
  return map.getNumResults() > 0;
}

/// Takes several elements at once if each access is contiguous or constant
/// along the line, and lines are whole vectors.
void GeneralNest::chooseWidth() {
  if (lineLoop < 0 || !reduced.empty())
    return;
  unsigned narrowest = 8;
  for (auto [type, map] : llvm::zip_equal(stage->getOperandTypes(),
                                          stage.getIndexingMapsArray())) {
    if (!map.isFunctionOfDim(lineLoop))
      continue;
    if (!isContiguous(map, lineLoop))
      return;
    narrowest = std::min(
        narrowest, storageBytes(cast<RankedTensorType>(type).getElementType()));
  }
  width = std::min<int64_t>(8, 16 / narrowest);
  for (Value tensor : stage->getOperands())
    width = std::min(width, alignmentOf(tensor));
  while (sizes[lineLoop] % width != 0)
    width /= 2;
}

/// Returns the loop along which the operands that are not contiguous along the
/// line are, or -1.
int GeneralNest::findTileLoop() const {
  int found = -1;
  if (!reduced.empty() || lineLoop < 0 || sizes[lineLoop] < 8)
    return -1;
  for (OpOperand *read : readsOf(stage)) {
    linalg::GenericOp op = stage;
    AffineMap map = op.getMatchingIndexingMap(read);
    if (!map.isFunctionOfDim(lineLoop) || isContiguous(map, lineLoop))
      continue;
    auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
    if (!map.isProjectedPermutation() || !last ||
        (found >= 0 && found != int(last.getPosition())))
      return -1;
    found = last.getPosition();
  }
  return found >= 0 && sizes[found] >= 8 ? found : -1;
}

int64_t GeneralNest::threadsForResult() const {
  linalg::GenericOp op = stage;
  if (reduced.empty() || !matchReduction(op))
    return 1;
  int64_t results = 1, terms = 1;
  for (unsigned loop : parallel)
    results *= sizes[loop];
  for (unsigned loop : reduced)
    terms *= sizes[loop];
  bool isAlongMemory = llvm::any_of(readsOf(op), [&](OpOperand *read) {
    return isContiguous(op.getMatchingIndexingMap(read), reduced.back());
  });
  if (terms >= 2048 && results <= 1024)
    return kBlockThreads;
  return terms >= 32 && (isAlongMemory || results <= 8192) ? 32 : 1;
}

//===----------------------------------------------------------------------===//
// The forms
//===----------------------------------------------------------------------===//

/// Prints a thread for each result, or for `width` neighbours.
void GeneralNest::printItems() {
  chooseWidth();
  SourceText &body = kernel.body;
  int64_t items = 1;
  for (unsigned loop : parallel)
    items *= sizes[loop];
  items /= width;
  kernel.grid = llvm::divideCeil(items, kBlockThreads);
  body.line("const " + kernel.indexType() + " item = block * " +
            number(kBlockThreads) + " + thread;");
  if (items % kBlockThreads != 0) {
    body.line("if (item >= " + number(items) + ")");
    body.line("  return;");
  }
  split(body, "item", parallel);
  if (reduced.empty())
    return computeAndStore(body, {});
  Names accumulators;
  for (OpOperand &init : stage.getDpsInitsMutable()) {
    std::string start = read(body, init);
    accumulators.push_back(kernel.names.fresh("s"));
    body.line(valueType(elementOf(init.get())) + " " + accumulators.back() +
              " = " + start + ";");
  }
  for (unsigned loop : reduced) {
    indices[loop] = "i" + std::to_string(loop);
    body.open("for (" + kernel.indexType() + " " + indices[loop] + " = 0; " +
              indices[loop] + " < " + number(sizes[loop]) + "; ++" +
              indices[loop] + ")");
  }
  Names next = compute(body, accumulators,
                       stage.getBody()->getTerminator()->getOperands());
  for (auto [accumulator, value] : llvm::zip_equal(accumulators, next))
    body.line(accumulator + " = " + value + ";");
  for (size_t i = 0; i < reduced.size(); ++i)
    body.close();
  computeAndStore(body, accumulators);
}

/// Prints `across` threads that share the reduction of one result.
void GeneralNest::printTogether(int64_t across) {
  SourceText &body = kernel.body;
  int64_t items = 1, terms = 1, down = kBlockThreads / across;
  for (unsigned loop : parallel)
    items *= sizes[loop];
  for (unsigned loop : reduced)
    terms *= sizes[loop];
  kernel.grid = llvm::divideCeil(items, down);
  std::string index = kernel.indexType();
  body.line("const int lane = thread % " + Twine(across) + ";");
  body.line("const " + index + " item = block * " + number(down) +
            " + thread / " + Twine(across) + ";");
  if (items % down != 0) {
    body.line("if (item >= " + number(items) + ")");
    body.line("  return;");
  }
  split(body, "item", parallel);
  Reduction reduction = *matchReduction(stage);
  OpOperand &init = *stage.getDpsInitsMutable().begin();
  std::string type = valueType(elementOf(init.get()));
  std::string sum = kernel.names.fresh("s");
  std::string neutral = printConstant(reduction.neutral);
  body.line(type + " " + sum + " = " + neutral + ";");
  body.open("for (" + index + " term = lane; term < " + number(terms) +
            "; term += " + number(across) + ")");
  split(body, "term", reduced);
  Names element = compute(body, {}, reduction.element);
  auto combine = [&](StringRef a, StringRef b) {
    FailureOr<std::string> text = printCombiner(reduction.combiner, a, b);
    failed |= llvm::failed(text);
    return llvm::failed(text) ? std::string() : *text;
  };
  if (!failed)
    body.line(sum + " = " + combine(sum, element.front()) + ";");
  body.close();
  std::string area =
      across > 32 ? kernel.scratch(32 * storageBytes(elementOf(init.get())))
                  : "nullptr";
  body.line(sum + " = reduceLine<" + Twine(across) + ">(" + sum + ", " +
            neutral + ", " + area + ", [](" + type + " a, " + type + " b) -> " +
            type + " { return " + combine("a", "b") + "; });");
  body.open("if (lane == 0)");
  std::string start = read(body, init);
  std::string result = kernel.names.fresh("v");
  body.line("const " + type + " " + result + " = " + combine(start, sum) + ";");
  computeAndStore(body, {result});
  body.close();
}

/// Prints tiles of the line and the loop along which operands are contiguous:
/// read in the operands' order, stored in that of the results.
void GeneralNest::printTiles(int tileLoop) {
  SourceText &body = kernel.body;
  std::string index = kernel.indexType();
  int64_t lines = llvm::divideCeil(sizes[lineLoop], kTileSize);
  int64_t tiles = llvm::divideCeil(sizes[tileLoop], kTileSize);
  llvm::erase(parallel, unsigned(lineLoop));
  llvm::erase(parallel, unsigned(tileLoop));
  kernel.grid = lines * tiles;
  for (unsigned loop : parallel)
    kernel.grid *= sizes[loop];
  body.line("const int x = thread % 32, y = thread / 32;");
  body.line("const " + index + " item = block / " + number(lines * tiles) +
            ";");
  body.line("const " + index + " line = block % " + number(lines) + " * 32;");
  body.line("const " + index + " tile = block / " + number(lines) + " % " +
            number(tiles) + " * 32;");
  split(body, "item", parallel);
  SourceText loads, work;
  for (OpOperand *operand : readsOf(stage)) {
    AffineMap map = stage.getMatchingIndexingMap(operand);
    if (constantOf(operand->get()) || !map.isFunctionOfDim(lineLoop) ||
        !isContiguous(map, tileLoop))
      continue;
    Type element = elementOf(operand->get());
    std::string type = storageType(element), name = kernel.names.fresh("t");
    // A row's padding makes neighbours in a column differ in their bank.
    unsigned bytes = storageBytes(element);
    int64_t pitch = kTileSize + std::max(4 / bytes, 1u);
    body.line(type + " *" + name + " = reinterpret_cast<" + type + " *>(" +
              kernel.shared(kTileSize * pitch * bytes) + ");");
    indices[lineLoop] = "(line + r)";
    indices[tileLoop] = "(tile + x)";
    loads.line(name + "[r * " + Twine(pitch) +
               " + x] = " + kernel.memory(operand->get()) + ".load(" +
               address(operand->get(), map) + ");");
    known[operand] = name + "[x * " + std::to_string(pitch) + " + r]";
    if (element.isInteger(1))
      known[operand] = "(" + known[operand] + " != 0)";
  }
  tileLines(tileLoop, "r", "x", loads);
  body.line("barrier();");
  indices[lineLoop] = "(line + x)";
  indices[tileLoop] = "(tile + r)";
  computeAndStore(work, {});
  tileLines(tileLoop, "x", "r", work);
}

void GeneralNest::tileLines(int tileLoop, StringRef line, StringRef tile,
                            const SourceText &inner) {
  SourceText &body = kernel.body;
  body.line("#pragma unroll");
  body.open("for (int r = y; r < 32; r += " + Twine(kTileRows) + ")");
  body.open("if (line + " + line + " < " + number(sizes[lineLoop]) +
            " && tile + " + tile + " < " + number(sizes[tileLoop]) + ")");
  body.append(inner);
  body.close();
  body.close();
}

LogicalResult mp::cuda::printGeneral(linalg::GenericOp stage,
                                     StageKernel &kernel) {
  return GeneralNest(stage, kernel).print();
}
