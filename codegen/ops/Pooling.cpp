//===- Pooling.cpp - pools as kernels -------------------------------------===//
//
// Pools on both targets: codegen/cpu/pooling/Pooling.h,
// codegen/cuda/pooling/Pooling.h. The stages after one are a kernel of their
// own.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/pooling/Pooling.h"
#include "codegen/cpu/KernelModel.h"
#include "codegen/cuda/pooling/Pooling.h"

using namespace mlir;
using namespace mp;

/// Returns a tensor of an anchor: a target's LayoutTensor.
template <typename Tensor> static Tensor operandOf(Operation *op, unsigned i) {
  Value operand = op->getOperand(i);
  return {tensorType(operand),
          {KernelArgument::Kind::Operand,
           cast<BlockArgument>(operand).getArgNumber()}};
}
template <typename Tensor>
static std::optional<Tensor> indexOf(Operation *op, const Pool &pool) {
  return pool.takesIndex() ? std::optional(operandOf<Tensor>(op, 1))
                           : std::nullopt;
}
template <typename Tensor> static Tensor resultOf(Operation *op) {
  return {tensorType(op->getResult(0)), {KernelArgument::Kind::Result, 0}};
}

namespace {
template <typename Op>
struct CpuModel : cpu::CpuKernelModel::ExternalModel<CpuModel<Op>, Op> {
  unsigned accepts(Operation *, StageList, const cpu::EmitOptions &) const {
    return 0;
  }
  FailureOr<EmittedKernel> emit(Operation *op, StageList,
                                const cpu::EmitOptions &,
                                cpu::ObjectCompiler &compiler) const {
    using Tensor = cpu::LayoutTensor;
    EmittedKernel kernel;
    Pool pool = poolOf(op);
    if (failed(cpu::emitPool(pool, operandOf<Tensor>(op, 0),
                             indexOf<Tensor>(op, pool), resultOf<Tensor>(op),
                             compiler, kernel)))
      return failure();
    return kernel;
  }
};

template <typename Op>
struct CudaModel : cuda::CudaKernelModel::ExternalModel<CudaModel<Op>, Op> {
  unsigned accepts(Operation *, StageList, const cuda::EmitOptions &) const {
    return 0;
  }
  FailureOr<EmittedKernel> emit(Operation *op, StageList,
                                const cuda::EmitOptions &,
                                cuda::KernelStore &store) const {
    using Tensor = cuda::LayoutTensor;
    EmittedKernel kernel;
    Pool pool = poolOf(op);
    cuda::emitPool(pool, operandOf<Tensor>(op, 0), indexOf<Tensor>(op, pool),
                   resultOf<Tensor>(op), store, kernel);
    return kernel;
  }
};

template <typename... Ops> void attach(MLIRContext *context) {
  (Ops::template attachInterface<CpuModel<Ops>>(*context), ...);
  (Ops::template attachInterface<CudaModel<Ops>>(*context), ...);
}
} // namespace

namespace mp {
void registerPoolingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attach<MaxPool2dOp, AdaptiveMaxPool2dOp, MaxPool2dIndexOp, MaxPool2dAtOp,
           MaxPool2dBackwardOp, AvgPool2dOp, AdaptiveAvgPool2dOp,
           AvgPool2dBackwardOp>(context);
  });
}
} // namespace mp
