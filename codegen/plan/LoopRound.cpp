//===- LoopRound.cpp - the places of a loop's results ---------------------===//
#include "codegen/plan/LoopRound.h"
#include "codegen/plan/Describe.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

uint64_t mp::bytesOfValue(Value value) {
  return describeType(tensorType(value)).bytes();
}

BufferRef LoopRound::placeOf(unsigned result) {
  return result < carried() ? places[result]
                            : elementOf(places[result], yielded(result));
}

BufferRef LoopRound::elementOf(BufferRef tensor, Value element) {
  LoopOp op = loop;
  auto bytes = static_cast<int64_t>(bytesOfValue(element));
  if (op.getReverse())
    tensor.offset += (op.getRounds() - 1) * bytes;
  if (bytes != 0) {
    tensor.strides.resize(loops);
    tensor.strides.push_back(op.getReverse() ? -bytes : bytes);
  }
  return tensor;
}

bool LoopRound::isAligned(Value element) {
  constexpr uint64_t alignment = 16;
  return bytesOfValue(element) % alignment == 0;
}

/// Whether a round returns a value there, in whatever shape.
bool LoopRound::isYielded(Value value, unsigned result) {
  Value found = yielded(result);
  while (auto reshape = found.getDefiningOp<ReshapeOp>())
    found = reshape.getInput();
  return found == value;
}

std::optional<BufferRef>
LoopRound::takePlace(OpResult result,
                     llvm::function_ref<bool(Value before)> mayReplace) {
  auto take = [&](unsigned index) {
    setStored(index);
    return placeOf(index);
  };
  for (unsigned i = carried(); i < results(); ++i)
    if (isYielded(result, i) && isAligned(result))
      return take(i);
  unsigned invariants = LoopOp(loop).getInvariant().size();
  for (unsigned i = 0; i < carried(); ++i)
    if (isYielded(result, i) && mayReplace(block.getArgument(invariants + i)))
      return take(i);
  return std::nullopt;
}
