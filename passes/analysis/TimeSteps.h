//===- TimeSteps.h - which time step of a loop an op is of ------*- C++ -*-===//
#ifndef MP_PASSES_ANALYSIS_TIMESTEPS_H
#define MP_PASSES_ANALYSIS_TIMESTEPS_H

#include "dialect/Mp.h"

namespace mp {

/// Returns the location of an op in an unrolled time step of the loop at
/// `loop`: callsite(OP at "time step 3"(LOOP)).
mlir::Location inTimeStep(mlir::Location op, mlir::Location loop, int64_t step);

/// The place of an op in a file, and the time steps of the unrolled loops
/// around it, that of the outermost first.
struct PlaceInSteps {
  mlir::FileLineColLoc place;
  llvm::SmallVector<uint32_t> timeSteps;
};
/// Returns the first place in a location; nothing if it has none.
std::optional<PlaceInSteps> placeInSteps(mlir::Location location);

/// Returns the location that the op had before the loops around it were
/// unrolled.
mlir::Location withoutTimeSteps(mlir::Location location);

} // namespace mp

#endif // MP_PASSES_ANALYSIS_TIMESTEPS_H
