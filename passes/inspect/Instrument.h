//===- Instrument.h - records of a step's kernels ---------------*- C++ -*-===//
#ifndef MP_PASSES_INSPECT_INSTRUMENT_H
#define MP_PASSES_INSPECT_INSTRUMENT_H

#include "dialect/Mp.h"

namespace mp {

/// "mp.exp"; of what reads a variable, "variable 'w'".
std::string nameOfMaker(mlir::Operation *op);

/// Whether a value is written down as one that has infinities, as a mask has.
bool isInfiniteConstant(mlir::Value value);

/// Adds to a function of kernels a record of the largest magnitude in each
/// float that a kernel stores, computed where the value is at hand.
void recordKernels(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_PASSES_INSPECT_INSTRUMENT_H
