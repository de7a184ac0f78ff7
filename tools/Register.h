//===- Register.h - what the tools know -----------------------------------===//
#ifndef MP_TOOLS_REGISTER_H
#define MP_TOOLS_REGISTER_H

namespace mlir {
class DialectRegistry;
}

namespace mp {
/// Registers the dialects, our passes, and those of upstream that go with them.
void registerAll(mlir::DialectRegistry &registry);
} // namespace mp

#endif // MP_TOOLS_REGISTER_H
