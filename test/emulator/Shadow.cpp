//===- Shadow.cpp ---------------------------------------------------------===//

#include "Shadow.h"

#include "Call.h"

namespace mp::emulator {

void Shadow::beginBlock(size_t bytes) {
  size_t needed = (bytes + cellBytes - 1) / cellBytes;
  if (cells.size() < needed)
    cells.resize(needed);
  firstOfBlock = ++epoch;
}

bool Shadow::ordered(const Touch &before, Moment now) const {
  return before.epoch < epoch || before.thread == now.thread ||
         (before.thread / 32 == now.thread / 32 &&
          before.warpEpoch < now.warpEpoch);
}

template <typename Function>
std::string Shadow::forCells(size_t offset, size_t size, Moment now,
                             Function each) {
  size_t end = offset + size;
  for (size_t start = offset; start < end;) {
    size_t index = start / cellBytes, next = (index + 1) * cellBytes;
    uint8_t bytes = 0;
    for (size_t byte = start; byte < end && byte < next; ++byte)
      bytes |= 1u << (byte % cellBytes);
    Touch touch{epoch, now.warpEpoch, static_cast<int16_t>(now.thread), bytes};
    std::string fault = each(cells[index], start, touch);
    if (!fault.empty())
      return fault;
    start = next;
  }
  return {};
}

std::string Shadow::accessCell(Cell &cell, size_t offset, Touch touch,
                               bool write) {
  Moment now{touch.thread, touch.warpEpoch};
  auto race = [&](const Touch &before, const char *what) {
    return format("race: byte %zu of shared memory: %s, and a %s by thread %d "
                  "with no barrier between",
                  offset, write ? "a write" : "a read", what, before.thread);
  };
  if (cell.write.copying && cell.write.epoch >= firstOfBlock &&
      cell.write.bytes & touch.bytes)
    return format("byte %zu of shared memory is touched before thread %d has "
                  "waited for its copy to it",
                  offset, cell.write.thread);
  if (cell.write.bytes & touch.bytes && !ordered(cell.write, now))
    return race(cell.write, "write");
  if (write) {
    for (const Touch &read : cell.reads)
      if (read.bytes & touch.bytes && !ordered(read, now))
        return race(read, "read");
    cell.write = touch;
    return {};
  }
  // The newest read replaces its thread's earlier one, or else the older.
  Touch *reads = cell.reads;
  bool second = reads[0].epoch == epoch && reads[0].thread != touch.thread;
  reads[second ? 1 : 0] = touch;
  return {};
}

std::string Shadow::access(size_t offset, size_t size, bool write, Moment now) {
  return forCells(offset, size, now, [&](Cell &cell, size_t at, Touch touch) {
    return accessCell(cell, at, touch, write);
  });
}

std::string Shadow::beginCopy(size_t offset, size_t size, Moment now) {
  std::string fault = access(offset, size, true, now);
  if (!fault.empty())
    return fault;
  return forCells(offset, size, now, [&](Cell &cell, size_t, Touch touch) {
    cell.write = touch;
    cell.write.copying = true;
    return std::string();
  });
}

void Shadow::endCopy(size_t offset, size_t size, Moment now) {
  forCells(offset, size, now, [&](Cell &cell, size_t, Touch touch) {
    cell.write = touch;
    return std::string();
  });
}

} // namespace mp::emulator
