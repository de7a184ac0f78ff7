//===- ArenaPlan.cpp - offsets in the arena -------------------------------===//
#include "codegen/plan/ArenaPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mp;

static constexpr uint64_t kAlignment = 64;

static bool meet(const Buffer &lhs, const Buffer &rhs) {
  return lhs.firstStep <= rhs.lastStep && rhs.firstStep <= lhs.lastStep;
}

/// Returns the start of the smallest gap for a buffer between those that it
/// meets of `placed`, which are sorted by their offsets.
static uint64_t findGap(ArrayRef<const Buffer *> placed, const Buffer &wanted) {
  uint64_t bytes = wanted.bytes;
  uint64_t end = 0, best = 0, bestSize = UINT64_MAX;
  for (const Buffer *buffer : placed) {
    if (!meet(*buffer, wanted))
      continue;
    if (buffer->offset > end && buffer->offset - end >= bytes &&
        buffer->offset - end < bestSize) {
      best = end;
      bestSize = buffer->offset - end;
    }
    end = std::max(end, alignTo(buffer->offset + buffer->bytes, kAlignment));
  }
  return bestSize == UINT64_MAX ? end : best;
}

uint64_t mp::planArena(MutableArrayRef<Buffer> buffers) {
  SmallVector<Buffer *> order(make_pointer_range(buffers));
  stable_sort(order, [](const Buffer *lhs, const Buffer *rhs) {
    return lhs->bytes > rhs->bytes;
  });
  uint64_t size = 0;
  SmallVector<const Buffer *> placed;
  for (Buffer *buffer : order) {
    buffer->offset = findGap(placed, *buffer);
    size = std::max(size, alignTo(buffer->offset + buffer->bytes, kAlignment));
    placed.insert(upper_bound(placed, buffer,
                              [](const Buffer *lhs, const Buffer *rhs) {
                                return lhs->offset < rhs->offset;
                              }),
                  buffer);
  }
  return size;
}
