//===- Grid.h - runs a kernel's blocks ------------------------------------===//
//
// Blocks run one after the other, a block's threads in turns: a thread runs
// until it waits for others. It is a fault if no order of turns lets a device
// finish, or if a device may finish with wrong results. Those of a cooperative
// launch run up to the next barrier of the grid, one after the other.
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_GRID_H
#define MP_EMULATOR_GRID_H

#include "Cuda.h"
#include "Interface.h"

#include <string>
#include <vector>

namespace mp::emulator {

struct Launch {
  const KernelEntry *kernel = nullptr;
  Context **context = nullptr; // the object's pointer to the emulator
  Dim3 grid, block;
  unsigned sharedBytes = 0;
  std::vector<std::vector<unsigned char>> parameters;
  bool cooperative = false;
};

/// Runs it to its end, or to its first fault, which is printed; device memory
/// must be open. Logs one line with the traffic.
CUresult runGrid(const Launch &launch);

} // namespace mp::emulator

#endif // MP_EMULATOR_GRID_H
