//===- Augmentation.cpp - moved images as kernels -------------------------===//
#include "dialect/ops/Augmentation.h"
#include "codegen/cpu/layout/Layout.h"
#include "codegen/cuda/layout/Layout.h"
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
} // namespace

namespace mp {
void registerAugmentationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attachLoopModels<Augmentation, AugmentImagesOp>(context);
  });
}
} // namespace mp
