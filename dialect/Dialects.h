//===- Dialects.h - ours, and those of upstream that graphs mix with ------===//
#ifndef MP_DIALECT_DIALECTS_H
#define MP_DIALECT_DIALECTS_H

namespace mlir {
class DialectRegistry;
}

namespace mp {
/// Registers our dialect, and those of upstream that graphs mix with.
void registerDialects(mlir::DialectRegistry &registry);
} // namespace mp

#endif // MP_DIALECT_DIALECTS_H
