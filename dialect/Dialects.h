//===- Dialects.h - dialects that graphs use ------------------------------===//
#ifndef MP_DIALECT_DIALECTS_H
#define MP_DIALECT_DIALECTS_H

namespace mlir {
class DialectRegistry;
}

namespace mp {
/// Registers our dialect and the upstream dialects that graphs mix with it.
void registerDialects(mlir::DialectRegistry &registry);
} // namespace mp

#endif // MP_DIALECT_DIALECTS_H
