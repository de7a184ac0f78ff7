//===- LocalResponseNorm.cpp - sums of channels as kernels ----------------===//
//
// mp.window_sum; the norm itself is made of it and of elementwise ops before
// kernels are formed.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/pooling/WindowSum.h"
#include "codegen/cuda/pooling/WindowSum.h"
#include "codegen/ops/LoopModels.h"

using namespace mlir;
using namespace mp;

namespace {
struct WindowSums {
  static LogicalResult emitOnCpu(Operation *op, cpu::ObjectCompiler &compiler,
                                 EmittedKernel &kernel) {
    using Tensor = cpu::LayoutTensor;
    return cpu::emitWindowSum(windowSumOf(cast<WindowSumOp>(op)),
                              operandOf<Tensor>(op, 0), resultOf<Tensor>(op),
                              compiler, kernel);
  }
  static void emitOnCuda(Operation *op, cuda::KernelStore &store,
                         EmittedKernel &kernel) {
    using Tensor = cuda::LayoutTensor;
    cuda::emitWindowSum(windowSumOf(cast<WindowSumOp>(op)),
                        operandOf<Tensor>(op, 0), resultOf<Tensor>(op), store,
                        kernel);
  }
};
} // namespace

namespace mp {
void registerLocalResponseNormModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attachLoopModels<WindowSums, WindowSumOp>(context);
  });
}
} // namespace mp
