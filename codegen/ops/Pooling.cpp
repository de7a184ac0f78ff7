//===- Pooling.cpp - pools as kernels -------------------------------------===//
//
// Pools on both targets: codegen/cpu/pooling/Pooling.h,
// codegen/cuda/pooling/Pooling.h.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/pooling/Pooling.h"
#include "codegen/cuda/pooling/Pooling.h"
#include "codegen/ops/LoopModels.h"

using namespace mlir;
using namespace mp;

template <typename Tensor>
static std::optional<Tensor> indexOf(Operation *op, const Pool &pool) {
  return pool.takesIndex() ? std::optional(operandOf<Tensor>(op, 1))
                           : std::nullopt;
}

namespace {
struct Pooling {
  static LogicalResult emitOnCpu(Operation *op, cpu::ObjectCompiler &compiler,
                                 EmittedKernel &kernel) {
    using Tensor = cpu::LayoutTensor;
    Pool pool = poolOf(op);
    return cpu::emitPool(pool, operandOf<Tensor>(op, 0),
                         indexOf<Tensor>(op, pool), resultOf<Tensor>(op),
                         compiler, kernel);
  }
  static void emitOnCuda(Operation *op, cuda::KernelStore &store,
                         EmittedKernel &kernel) {
    using Tensor = cuda::LayoutTensor;
    Pool pool = poolOf(op);
    cuda::emitPool(pool, operandOf<Tensor>(op, 0), indexOf<Tensor>(op, pool),
                   resultOf<Tensor>(op), store, kernel);
  }
};
} // namespace

namespace mp {
void registerPoolingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attachLoopModels<Pooling, MaxPool2dOp, AdaptiveMaxPool2dOp,
                     MaxPool2dIndexOp, MaxPool2dAtOp, MaxPool2dBackwardOp,
                     AvgPool2dOp, AdaptiveAvgPool2dOp, AvgPool2dBackwardOp>(
        context);
  });
}
} // namespace mp
