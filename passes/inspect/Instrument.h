//===- Instrument.h - records of a step's kernels ---------------*- C++ -*-===//
#ifndef MP_PASSES_INSPECT_INSTRUMENT_H
#define MP_PASSES_INSPECT_INSTRUMENT_H

#include "dialect/Mp.h"

namespace mp {

/// Returns "mp.exp", or "variable 'w'" for an op that reads a variable.
std::string nameOfMaker(mlir::Operation *op);

/// Whether a value is a constant written with infinities, as a mask is.
bool isInfiniteConstant(mlir::Value value);

/// Adds to a function of kernels a record of the largest magnitude in each
/// float that a kernel stores, computed where the value is read or written
/// anyway.
void recordKernels(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_INSPECT_INSTRUMENT_H
