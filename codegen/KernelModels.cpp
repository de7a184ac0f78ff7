//===- KernelModels.cpp - how anchors become kernels on each target -------===//
//
// Each family registers its own models, in codegen/ops/.
//
//===----------------------------------------------------------------------===//
#include "codegen/KernelModels.h"

using namespace mlir;

#define MP_FAMILY(NAME) void register##NAME##Models(DialectRegistry &registry);
namespace mp {
#include "codegen/Families.inc"
}
#undef MP_FAMILY

void mp::registerKernelModels(DialectRegistry &registry) {
#define MP_FAMILY(NAME) register##NAME##Models(registry);
#include "codegen/Families.inc"
#undef MP_FAMILY
}
