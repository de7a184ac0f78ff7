//===- Register.cpp - the one list of dialects and passes -----------------===//
#include "tools/Register.h"
#include "dialect/Dialects.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

void mp::registerAll(mlir::DialectRegistry &registry) {
  registerDialects(registry);
  mlir::registerTransformsPasses();
  registerMpPasses();
  registerPipelines();
}
