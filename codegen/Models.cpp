// The families that say how their anchors become kernels: codegen/ops/.
#include "codegen/Backend.h"

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
