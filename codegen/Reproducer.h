//===- Reproducer.h - reproduces a pass's failure -------------------------===//
#ifndef MP_CODEGEN_REPRODUCER_H
#define MP_CODEGEN_REPRODUCER_H

#include "mlir/Pass/PassManager.h"
#include <string>

namespace mp {

/// Runs `passes`. If one fails or crashes and `path` names a file, writes to it
/// the module as it was before that pass and how to run it again: upstream's
/// reproducer, cut to the one pass. A crash is then a failure with a
/// diagnostic. `plugins` are libraries that some of the passes come from.
llvm::LogicalResult runReproducibly(mlir::PassManager &passes,
                                    mlir::Operation *module,
                                    llvm::StringRef path,
                                    llvm::ArrayRef<std::string> plugins);

} // namespace mp

#endif // MP_CODEGEN_REPRODUCER_H
