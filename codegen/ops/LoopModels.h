//===- LoopModels.h - models of ops without an epilogue ---------*- C++ -*-===//
//
// What the families share whose ops have a main loop, and leave the stages
// after it to a kernel of their own.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_OPS_LOOPMODELS_H
#define MP_CODEGEN_OPS_LOOPMODELS_H

#include "codegen/cpu/KernelModel.h"
#include "codegen/cuda/KernelModel.h"

namespace mp {

/// A tensor of an anchor: a target's LayoutTensor.
template <typename Tensor> Tensor operandOf(mlir::Value operand) {
  return {tensorType(operand),
          {KernelArgument::Kind::Operand,
           mlir::cast<mlir::BlockArgument>(operand).getArgNumber()}};
}
template <typename Tensor> Tensor operandOf(mlir::Operation *op, unsigned i) {
  return operandOf<Tensor>(op->getOperand(i));
}
template <typename Tensor> Tensor resultOf(mlir::Operation *op) {
  return {tensorType(op->getResult(0)), {KernelArgument::Kind::Result, 0}};
}

/// The flag without which the kernel of an op does nothing, if it has one.
template <typename Tensor>
std::optional<Tensor> flagOf(mlir::Operation *anchor) {
  auto kernel = anchor->getParentOfType<KernelOp>();
  mlir::Value flag = kernel.getPredicate();
  if (!flag)
    return std::nullopt;
  return Tensor{tensorType(flag),
                {KernelArgument::Kind::Operand,
                 static_cast<unsigned>(kernel.getInputs().size())}};
}

/// `Family` has `emitOnCpu(op, compiler, kernel)` and
/// `emitOnCuda(op, store, kernel)`.
template <typename Family, typename Op>
struct CpuLoopModel
    : cpu::CpuKernelModel::ExternalModel<CpuLoopModel<Family, Op>, Op> {
  unsigned accepts(mlir::Operation *, StageList,
                   const cpu::EmitOptions &) const {
    return 0;
  }
  llvm::FailureOr<EmittedKernel> emit(mlir::Operation *op, StageList,
                                      const cpu::EmitOptions &,
                                      cpu::ObjectCompiler &compiler) const {
    EmittedKernel kernel;
    if (failed(Family::emitOnCpu(op, compiler, kernel)))
      return llvm::failure();
    return kernel;
  }
};

template <typename Family, typename Op>
struct CudaLoopModel
    : cuda::CudaKernelModel::ExternalModel<CudaLoopModel<Family, Op>, Op> {
  unsigned accepts(mlir::Operation *, StageList,
                   const cuda::EmitOptions &) const {
    return 0;
  }
  llvm::FailureOr<EmittedKernel> emit(mlir::Operation *op, StageList,
                                      const cuda::EmitOptions &,
                                      cuda::KernelStore &store) const {
    EmittedKernel kernel;
    Family::emitOnCuda(op, store, kernel);
    return kernel;
  }
};

template <typename Family, typename... Ops>
void attachLoopModels(mlir::MLIRContext *context) {
  (Ops::template attachInterface<CpuLoopModel<Family, Ops>>(*context), ...);
  (Ops::template attachInterface<CudaLoopModel<Family, Ops>>(*context), ...);
}

} // namespace mp

#endif // MP_CODEGEN_OPS_LOOPMODELS_H
