//===- Upsample.cpp - images in another size, as kernels ------------------===//
//
// On both targets: codegen/cpu/pooling/Upsample.h,
// codegen/cuda/pooling/Upsample.h.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/pooling/Upsample.h"
#include "codegen/cuda/pooling/Upsample.h"
#include "codegen/ops/LoopModels.h"

using namespace mlir;
using namespace mp;

namespace {
struct Upsampling {
  static LogicalResult emitOnCpu(Operation *op, cpu::ObjectCompiler &compiler,
                                 EmittedKernel &kernel) {
    using Tensor = cpu::LayoutTensor;
    return cpu::emitUpsample(upsampleOf(op), operandOf<Tensor>(op, 0),
                             resultOf<Tensor>(op), compiler, kernel);
  }
  static void emitOnCuda(Operation *op, cuda::KernelStore &store,
                         EmittedKernel &kernel) {
    using Tensor = cuda::LayoutTensor;
    cuda::emitUpsample(upsampleOf(op), operandOf<Tensor>(op, 0),
                       resultOf<Tensor>(op), store, kernel);
  }
};
} // namespace

namespace mp {
void registerUpsampleModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attachLoopModels<Upsampling, UpsampleNearestOp, UpsampleNearestBackwardOp,
                     UpsampleBilinearOp, UpsampleBilinearBackwardOp>(context);
  });
}
} // namespace mp
