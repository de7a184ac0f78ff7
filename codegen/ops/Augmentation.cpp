//===- Augmentation.cpp - moved images as kernels -------------------------===//
#include "dialect/ops/Augmentation.h"
#include "codegen/cpu/KernelModel.h"
#include "codegen/cpu/layout/Layout.h"
#include "codegen/cuda/KernelModel.h"
#include "codegen/cuda/layout/Layout.h"

using namespace mlir;
using namespace mp;

/// Returns an operand of an anchor as a target's LayoutTensor.
template <typename Tensor> static Tensor operandOf(Value operand) {
  return {tensorType(operand),
          {KernelArgument::Kind::Operand,
           cast<BlockArgument>(operand).getArgNumber()}};
}
/// Calls `emit` with the operands and the result of an op.
template <typename Tensor, typename Emit>
static auto withTensors(AugmentImagesOp op, Emit emit) {
  std::optional<Tensor> mirrored;
  if (Value flags = op.getMirrored())
    mirrored = operandOf<Tensor>(flags);
  return emit(imagesOf(op), operandOf<Tensor>(op.getInput()),
              operandOf<Tensor>(op.getRows()),
              operandOf<Tensor>(op.getColumns()), mirrored,
              Tensor{op.getType(), {KernelArgument::Kind::Result, 0}});
}

namespace {
struct CpuModel
    : cpu::CpuKernelModel::ExternalModel<CpuModel, AugmentImagesOp> {
  unsigned accepts(Operation *, StageList, const cpu::EmitOptions &) const {
    return 0;
  }
  FailureOr<EmittedKernel> emit(Operation *op, StageList,
                                const cpu::EmitOptions &,
                                cpu::ObjectCompiler &compiler) const {
    EmittedKernel kernel;
    if (failed(withTensors<cpu::LayoutTensor>(
            cast<AugmentImagesOp>(op), [&](auto &&...tensors) {
              return cpu::emitAugment(tensors..., compiler, kernel);
            })))
      return failure();
    return kernel;
  }
};

struct CudaModel
    : cuda::CudaKernelModel::ExternalModel<CudaModel, AugmentImagesOp> {
  unsigned accepts(Operation *, StageList, const cuda::EmitOptions &) const {
    return 0;
  }
  FailureOr<EmittedKernel> emit(Operation *op, StageList,
                                const cuda::EmitOptions &,
                                cuda::KernelStore &store) const {
    EmittedKernel kernel;
    withTensors<cuda::LayoutTensor>(
        cast<AugmentImagesOp>(op), [&](auto &&...tensors) {
          cuda::emitAugment(tensors..., store, kernel);
        });
    return kernel;
  }
};
} // namespace

namespace mp {
void registerAugmentationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    AugmentImagesOp::attachInterface<CpuModel>(*context);
    AugmentImagesOp::attachInterface<CudaModel>(*context);
  });
}
} // namespace mp
