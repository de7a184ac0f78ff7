//===- Augmentation.cpp - images varied in training, as kernels -----------===//
#include "dialect/ops/Augmentation.h"
#include "codegen/cpu/layout/Layout.h"
#include "codegen/cpu/pooling/CropResize.h"
#include "codegen/cuda/layout/Layout.h"
#include "codegen/cuda/pooling/CropResize.h"
#include "codegen/ops/LoopModels.h"

using namespace mlir;
using namespace mp;

/// Calls `emit` with the operands and the result of an op.
template <typename Tensor, typename Emit>
static auto withTensors(Operation *op, Emit emit) {
  auto augment = cast<AugmentImagesOp>(op);
  std::optional<Tensor> mirrored;
  if (augment.getMirrored())
    mirrored = operandOf<Tensor>(op, 3);
  return emit(imagesOf(augment), operandOf<Tensor>(op, 0),
              operandOf<Tensor>(op, 1), operandOf<Tensor>(op, 2), mirrored,
              resultOf<Tensor>(op));
}

namespace {
struct Augmentation {
  static LogicalResult emitOnCpu(Operation *op, cpu::ObjectCompiler &compiler,
                                 EmittedKernel &kernel) {
    return withTensors<cpu::LayoutTensor>(op, [&](auto &&...tensors) {
      return cpu::emitAugment(tensors..., compiler, kernel);
    });
  }
  static void emitOnCuda(Operation *op, cuda::KernelStore &store,
                         EmittedKernel &kernel) {
    withTensors<cuda::LayoutTensor>(op, [&](auto &&...tensors) {
      cuda::emitAugment(tensors..., store, kernel);
    });
  }
};

template <typename Boxes, typename Tensor> Boxes boxesOf(Operation *op) {
  return {operandOf<Tensor>(op, 1), operandOf<Tensor>(op, 2),
          operandOf<Tensor>(op, 3), operandOf<Tensor>(op, 4)};
}

struct Cropping {
  static LogicalResult emitOnCpu(Operation *op, cpu::ObjectCompiler &compiler,
                                 EmittedKernel &kernel) {
    using Tensor = cpu::LayoutTensor;
    return cpu::emitCropResize(cropOf(cast<CropResizeOp>(op)),
                               operandOf<Tensor>(op, 0),
                               boxesOf<cpu::Boxes, Tensor>(op),
                               resultOf<Tensor>(op), compiler, kernel);
  }
  static void emitOnCuda(Operation *op, cuda::KernelStore &store,
                         EmittedKernel &kernel) {
    using Tensor = cuda::LayoutTensor;
    cuda::emitCropResize(
        cropOf(cast<CropResizeOp>(op)), operandOf<Tensor>(op, 0),
        boxesOf<cuda::Boxes, Tensor>(op), resultOf<Tensor>(op), store, kernel);
  }
};
} // namespace

namespace mp {
void registerAugmentationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attachLoopModels<Augmentation, AugmentImagesOp>(context);
    attachLoopModels<Cropping, CropResizeOp>(context);
  });
}
} // namespace mp
