//===- JsonFile.h - what a pass says beside the IR --------------*- C++ -*-===//
#ifndef MP_PASSES_JSONFILE_H
#define MP_PASSES_JSONFILE_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/JSON.h"

namespace mp {

/// Writes a file; fails with a diagnostic at `asker`.
llvm::LogicalResult writeJson(mlir::Operation *asker, llvm::StringRef path,
                              llvm::json::Value value);

/// llvm::json::parse for text that may be anything: it recurses, and would run
/// out of stack where lists nest deep.
llvm::Expected<llvm::json::Value> parseShallowJson(llvm::StringRef text);

} // namespace mp

#endif // MP_PASSES_JSONFILE_H
