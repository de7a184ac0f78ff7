//===- Warp.h - joint operations of 32 lanes ------------------------------===//
#ifndef MP_EMULATOR_WARP_H
#define MP_EMULATOR_WARP_H

#include "Interface.h"

namespace mp::emulator {

constexpr int warpSize = 32;

/// Performs the calls, which are alike but for their operands; writes every
/// lane's result. `lanes` may be below 32 for Barrier and Any.
void perform(WarpCall *const *calls, int lanes);

const char *nameOf(WarpAction action);

} // namespace mp::emulator

#endif // MP_EMULATOR_WARP_H
