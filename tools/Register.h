//===- Register.h - the one list of dialects and passes -------------------===//
#ifndef MP_TOOLS_REGISTER_H
#define MP_TOOLS_REGISTER_H

namespace mlir {
class DialectRegistry;
}

namespace mp {
/// Registers the dialects, Mantissa's passes, and the upstream passes that go
/// with them.
void registerAll(mlir::DialectRegistry &registry);
} // namespace mp

#endif // MP_TOOLS_REGISTER_H
