//===- MergeDims.h - stages in the fewest dimensions ----------------------===//
#ifndef MP_CODEGEN_STAGES_MERGEDIMS_H
#define MP_CODEGEN_STAGES_MERGEDIMS_H

#include "mlir/IR/Block.h"

namespace mp {

/// Merges adjacent dimensions of all tensors in a kernel's body that stages
/// alone compute: [n] if no stage tells its dimensions apart, else [rows,
/// columns] if that is possible. mp-lower-kernels does the same for a kernel
/// without an anchor.
void mergeDims(mlir::Block &body);

} // namespace mp

#endif // MP_CODEGEN_STAGES_MERGEDIMS_H
