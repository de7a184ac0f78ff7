//===- Shadow.cpp - who touched which byte of shared memory, and when -----===//

#include "Shadow.h"

#include "Call.h"

namespace mp::emulator {

void Shadow::beginBlock(size_t bytes) {
  size_t needed = (bytes + cellBytes - 1) / cellBytes;
  if (cells.size() < needed)
    cells.resize(needed);
  firstOfBlock = ++epoch;
}

bool Shadow::ordered(const Touch &before, const Touch &now) const {
  return before.epoch < epoch || before.thread == now.thread ||
         (before.thread / 32 == now.thread / 32 &&
          before.warpEpoch < now.warpEpoch);
}

Shadow::Touch Shadow::touchOf(Moment now) const {
  return {epoch, now.warpEpoch, static_cast<int16_t>(now.thread), 0, false};
}

template <typename Function>
void Shadow::forCells(size_t offset, size_t size, Function each) {
  static_assert(cellBytes == 2, "the masks below");
  for (size_t start = offset, end = offset + size; start < end;) {
    size_t index = start / cellBytes, next = (index + 1) * cellBytes;
    bool first = start % cellBytes == 0, second = next <= end;
    uint8_t bytes = (first ? 1 : 0) | (second ? 2 : 0);
    if (each(cells[index], start, bytes))
      return;
    start = next;
  }
}

const Shadow::Touch *Shadow::accessCell(Cell &cell, Touch touch, bool write) {
  auto conflicts = [&](const Touch &before) {
    return before.bytes & touch.bytes && !ordered(before, touch);
  };
  bool copying = cell.write.copying && cell.write.epoch >= firstOfBlock &&
                 cell.write.bytes & touch.bytes;
  if (copying || conflicts(cell.write))
    return &cell.write;
  Touch *reads = cell.reads;
  if (write) {
    for (int reader = 0; reader < 2; ++reader)
      if (conflicts(reads[reader]))
        return &reads[reader];
    cell.write = touch;
    return nullptr;
  }
  // The newest read replaces its thread's earlier one, or else the older.
  bool second = reads[0].epoch == epoch && reads[0].thread != touch.thread;
  reads[second ? 1 : 0] = touch;
  return nullptr;
}

std::string Shadow::explain(const Cell &cell, const Touch &other, size_t offset,
                            bool write) const {
  bool wrote = &other == &cell.write;
  if (wrote && other.copying)
    return format("byte %zu of shared memory is touched before thread %d has "
                  "waited for its copy to it",
                  offset, other.thread);
  return format("race: byte %zu of shared memory: a %s, and a %s by thread %d "
                "with no barrier between",
                offset, write ? "write" : "read", wrote ? "write" : "read",
                other.thread);
}

std::string Shadow::access(size_t offset, size_t size, bool write, Moment now) {
  std::string fault;
  Touch touch = touchOf(now);
  forCells(offset, size, [&](Cell &cell, size_t at, uint8_t bytes) {
    touch.bytes = bytes;
    const Touch *other = accessCell(cell, touch, write);
    if (other)
      fault = explain(cell, *other, at, write);
    return other != nullptr;
  });
  return fault;
}

void Shadow::setWrite(size_t offset, size_t size, Moment now, bool copying) {
  Touch touch = touchOf(now);
  touch.copying = copying;
  forCells(offset, size, [&](Cell &cell, size_t, uint8_t bytes) {
    touch.bytes = bytes;
    cell.write = touch;
    return false;
  });
}

std::string Shadow::beginCopy(size_t offset, size_t size, Moment now) {
  std::string fault = access(offset, size, true, now);
  setWrite(offset, size, now, true);
  return fault;
}

void Shadow::endCopy(size_t offset, size_t size, Moment now) {
  setWrite(offset, size, now, false);
}

} // namespace mp::emulator
