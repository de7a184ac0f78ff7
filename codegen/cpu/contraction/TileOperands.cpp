//===- TileOperands.cpp - operands of products as tiles read them ---------===//
#include "codegen/cpu/contraction/TileContraction.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

constexpr int64_t kSide = MatrixTiles::side, kDepth = MatrixTiles::depth;

TileOperand mp::cpu::operandA(const ContractionSpec &spec,
                              const TileContractionPlan &plan) {
  return {plan.m, plan.rowTiles,   plan.rowsOfTile,
          plan.k, spec.transposeA, /*isB=*/false};
}
TileOperand mp::cpu::operandB(const ContractionSpec &spec,
                              const TileContractionPlan &plan) {
  return {plan.n, plan.columnTiles, kSide,
          plan.k, !spec.transposeB, /*isB=*/true};
}

void TilePacker::emit(Value matrix, Value tile, Value step, Value to) {
  first = b.mul(tile, operand.linesOfTile);
  int64_t pitch = operand.linesAreNeighbours ? operand.lines : 1;
  Value at = b.add(b.mul(matrix, operand.lines * operand.k),
                   b.mul(step, kDepth * pitch));
  auto emitDepth = [&](int64_t depth) {
    operand.linesAreNeighbours ? emitNeighbours(at, to, depth)
                               : emitLines(at, to, depth);
  };
  int64_t rest = operand.k % kDepth;
  if (!rest)
    return emitDepth(kDepth);
  b.ifElse(
      b.isBelow(step, b.index(operand.k / kDepth)), [&] { emitDepth(kDepth); },
      [&] { emitDepth(rest); });
}

void TilePacker::store(Value words, Value to, int64_t row) {
  b.store(words, packed, b.add(to, row * kDepth));
}

/// Each line's elements are neighbours. Lines past the last repeat it.
void TilePacker::emitLines(Value at, Value to, int64_t depth) {
  Value mask = depth == kDepth ? Value() : b.firstLanes(depth, kDepth);
  SmallVector<Value> lines;
  for (int64_t i = 0; i < kSide; ++i) {
    Value line = b.min(b.add(first, i), operand.lines - 1);
    lines.push_back(
        b.load(source, b.add(at, b.mul(line, operand.k)), kDepth, mask));
  }
  if (operand.isB)
    transposePairs(b, lines);
  for (int64_t i = 0; i < kSide; ++i)
    store(lines[i], to, i);
}

/// Neighbouring lines are neighbours in memory. Those past the last are zeros.
void TilePacker::emitNeighbours(Value at, Value to, int64_t depth) {
  int64_t read = (operand.tiles - 1) * operand.linesOfTile + kSide;
  Value mask = b.maskFor(first, operand.lines, read, kSide);
  auto load = [&](int64_t k) {
    if (k >= depth)
      return b.zero(source.element, kSide);
    return b.load(source, b.add(b.add(at, k * operand.lines), first), kSide,
                  mask);
  };
  SmallVector<Value> pairs;
  for (int64_t k = 0; k < kDepth; k += 2)
    pairs.push_back(interleave(b, load(k), load(k + 1)));
  if (!operand.isB)
    transposePairs(b, pairs);
  for (int64_t i = 0; i < kSide; ++i)
    store(pairs[i], to, i);
}

/// Packs an operand whole. What is contiguous in memory belongs to one work
/// item: a step of all lines, or all steps of a tile of lines.
static void packWhole(LoopBuilder &b, const TileOperand &operand,
                      const FlatMemory &source, const FlatMemory &packed,
                      Value item) {
  TilePacker packer(b, operand, source, packed);
  bool bySteps = operand.linesAreNeighbours;
  int64_t items = bySteps ? operand.steps() : operand.tiles;
  Value matrix = b.div(item, items), part = b.rem(item, items);
  b.forEach(bySteps ? operand.tiles : operand.steps(), [&](Value other) {
    Value tile = bySteps ? other : part, step = bySteps ? part : other;
    Value to = b.add(b.mul(matrix, operand.tiles), tile);
    to = b.add(b.mul(to, operand.steps()), step);
    packer.emit(matrix, tile, step, b.mul(to, TileContractionPlan::tileCount));
  });
}

namespace {
/// An operand that is packed whole.
struct Packing {
  unsigned number;
  TileOperand operand;
  int64_t matrices, count; ///< packed elements
  KernelArgument to;

  int64_t items() const {
    return matrices *
           (operand.linesAreNeighbours ? operand.steps() : operand.tiles);
  }
};
} // namespace

/// Emits one launch that packs operands.
static FailureOr<KernelLaunch> emitPackings(MLIRContext *context,
                                            ArrayRef<Packing> packings,
                                            ObjectCompiler &compiler) {
  Type word = IntegerType::get(context, 16);
  SmallVector<LoopBuilder::Argument> arguments;
  KernelLaunch launch;
  launch.grid = 0;
  launch.prepares = true;
  int64_t count = 0;
  for (const Packing &packing : packings) {
    const TileOperand &operand = packing.operand;
    arguments.push_back({word, packing.matrices * operand.lines * operand.k});
    arguments.push_back({word, packing.count});
    launch.arguments.push_back({KernelArgument::Kind::Operand, packing.number});
    launch.arguments.push_back(packing.to);
    launch.grid += packing.items();
    count += packing.count;
  }
  LoopBuilder b(context, arguments, 0);
  auto pack = [&](unsigned number, Value item) {
    packWhole(b, packings[number].operand, b.argument(2 * number),
              b.argument(2 * number + 1), item);
  };
  b.forEach(b.begin(), b.end(), 1, [&](Value item) {
    if (packings.size() == 1)
      return pack(0, item);
    Value first = b.index(packings[0].items());
    b.ifElse(
        b.isBelow(item, first), [&] { pack(0, item); },
        [&] { pack(1, b.sub(item, first)); });
  });
  FailureOr<std::string> symbol = compiler.compile(b.take());
  if (failed(symbol))
    return failure();
  launch.symbol = *symbol;
  constexpr int64_t enough = 1 << 15; // elements in a task
  launch.block =
      std::clamp<int64_t>(enough * launch.grid / count, 1, launch.grid);
  return launch;
}

FailureOr<std::pair<KernelArgument, KernelArgument>>
mp::cpu::emitOperandTiles(MLIRContext *context, const ContractionSpec &spec,
                          const TileContractionPlan &plan,
                          ObjectCompiler &compiler, EmittedKernel &kernel) {
  SmallVector<Packing, 2> packings;
  auto add = [&](unsigned number, const TileOperand &operand, int64_t matrices,
                 int64_t count) {
    unsigned temporary = kernel.temporaries.size();
    kernel.temporaries.push_back(2 * count);
    packings.push_back({number,
                        operand,
                        matrices,
                        count,
                        {KernelArgument::Kind::Temporary, temporary}});
    return packings.back().to;
  };
  KernelArgument a{KernelArgument::Kind::Operand, 0};
  KernelArgument b{KernelArgument::Kind::Operand, 1};
  if (!plan.inPlaceA && !plan.packsA)
    a = add(0, operandA(spec, plan), plan.matricesA, plan.countA());
  if (!plan.packsB)
    b = add(1, operandB(spec, plan), plan.matricesB, plan.countB());

  // What is kept has a launch of its own.
  size_t together = spec.keepsB ? 1 : packings.size();
  for (ArrayRef<Packing> rest = packings; !rest.empty();
       rest = rest.drop_front(together)) {
    auto launch = emitPackings(context, rest.take_front(together), compiler);
    if (failed(launch))
      return failure();
    kernel.launches.push_back(std::move(*launch));
  }
  return std::pair(a, b);
}
