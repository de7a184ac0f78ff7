//===- Shadow.h - who touched which byte of shared memory, and when -------===//
//
// Two threads race if they touch the same byte, one of them writes, and no
// barrier stands between: a barrier of the block, or one of their warp. (Other
// work of a warp, such as a shuffle, does not order memory.)
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_SHADOW_H
#define MP_EMULATOR_SHADOW_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mp::emulator {

/// A thread at one time: the state that orders its accesses among those of
/// others.
struct Moment {
  int thread = 0;
  uint32_t warpEpoch = 0; // barriers that its warp has passed
};

class Shadow {
public:
  /// Starts a block with `bytes` of shared memory, none of it touched.
  void beginBlock(size_t bytes);
  /// Passes a barrier of the block, which orders accesses before and after it.
  void passBarrier() { ++epoch; }

  /// Notes an access of [offset, offset + size), inside the block's memory.
  /// Returns its fault; empty if none.
  std::string access(size_t offset, size_t size, bool write, Moment now);
  /// Notes that a copy to the range starts; it may not be touched before
  /// `endCopy`.
  std::string beginCopy(size_t offset, size_t size, Moment now);
  void endCopy(size_t offset, size_t size, Moment now);

private:
  struct Touch {
    uint32_t epoch = 0; // 0: never
    uint32_t warpEpoch = 0;
    int16_t thread = 0;
    uint8_t bytes = 0; // of the cell, a bit each
    bool copying = false;
  };
  // Two readers represent all: a writer is not both of them.
  struct Cell {
    Touch write, reads[2];
  };
  static constexpr size_t cellBytes = 2;

  bool ordered(const Touch &before, const Touch &now) const;
  /// Returns the touch that the access races with; nullptr if it is ordered
  /// after all others.
  const Touch *accessCell(Cell &cell, Touch touch, bool write);
  std::string explain(const Cell &cell, const Touch &other, size_t offset,
                      bool write) const;
  Touch touchOf(Moment now) const;
  void setWrite(size_t offset, size_t size, Moment now, bool copying);
  /// Calls each(cell, offset, bytes of the cell) until one returns true.
  template <typename Function>
  void forCells(size_t offset, size_t size, Function each);

  std::vector<Cell> cells;
  uint32_t epoch = 0, firstOfBlock = 0;
};

} // namespace mp::emulator

#endif // MP_EMULATOR_SHADOW_H
