//===- ViewText.h - what the nodes of a picture say -----------------------===//
#ifndef MP_PASSES_INSPECT_VIEW_VIEWTEXT_H
#define MP_PASSES_INSPECT_VIEW_VIEWTEXT_H

#include "dialect/Mp.h"
#include "mlir/IR/AsmState.h"

namespace mp::view {

/// "?x512xf16" for a tensor
std::string shortType(mlir::Type type);
/// "model.mlir:12:8", or "" if a location names no file.
std::string placeOf(mlir::Location location);
/// The element types of operands and results: "f32, f32 → f16"
std::string elementsOf(mlir::Operation *op);
/// The op in the IR without its regions, and the names of the ops in these.
std::string textOf(mlir::Operation *op, mlir::AsmState &state);
/// The scalar ops of a stage of a lowered kernel: "mulf, addf".
std::string stageTitle(mlir::Operation *stage);
/// "255", or "constant" for one that has no single value.
std::string constantText(mlir::Attribute value);

/// What mp-autocast recorded about its decisions on the module, if anything.
class Reasons {
public:
  explicit Reasons(mlir::ModuleOp module);
  /// "allow: listed under allow", or "".
  std::string of(mlir::Operation *op) const;

private:
  llvm::StringMap<std::string> reasons;
};

} // namespace mp::view

#endif // MP_PASSES_INSPECT_VIEW_VIEWTEXT_H
