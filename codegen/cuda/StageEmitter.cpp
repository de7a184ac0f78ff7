#include "codegen/cuda/StageEmitter.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

FailureOr<EmittedKernel> mp::cuda::emitStages(Block &body, bool predicated,
                                              const EmitOptions &options,
                                              KernelStore &store) {
  return body.getParentOp()->emitError("has no kernel on CUDA");
}
