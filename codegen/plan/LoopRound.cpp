//===- LoopRound.cpp - the places of a loop's results ---------------------===//
#include "codegen/plan/LoopRound.h"
#include "codegen/plan/Describe.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

uint64_t mp::bytesOfValue(Value value) {
  return describeType(tensorType(value)).bytes();
}

void LoopRound::carryInRow(unsigned carried, BufferRef row) {
  BufferRef behind = row;
  behind.offset += bytesOfValue(argument(carried));
  bool isReverse = LoopOp(loop).getReverse();
  rows[carried] = isReverse ? Row{behind, row} : Row{row, behind};
}

BufferRef LoopRound::firstOf(unsigned carried) {
  BufferRef place = argumentPlace(carried);
  if (rows[carried])
    place.strides.clear();
  return place;
}

BufferRef LoopRound::lastOf(unsigned carried) {
  BufferRef place = rows[carried]->written;
  if (LoopOp op = loop; !op.getReverse())
    place.offset += (op.getRounds() - 1) * bytesOfValue(argument(carried));
  return place;
}

BufferRef LoopRound::argumentPlace(unsigned carried) {
  return rows[carried] ? elementOf(rows[carried]->read, argument(carried))
                       : *places[carried];
}

BufferRef LoopRound::placeOf(unsigned result) {
  if (result >= carried())
    return elementOf(*places[result], yielded(result));
  return rows[result] ? elementOf(rows[result]->written, argument(result))
                      : *places[result];
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
  for (unsigned i = 0; i < carried(); ++i)
    if (isYielded(result, i) && (rows[i] || mayReplace(argument(i))))
      return take(i);
  return std::nullopt;
}
