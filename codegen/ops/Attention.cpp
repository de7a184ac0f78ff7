//===- Attention.cpp - attention as a kernel ------------------------------===//
//
// On the CPU: codegen/cpu/attention/Attention.h. On CUDA:
// codegen/cuda/attention/Attention.h.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/attention/Attention.h"
#include "codegen/cpu/KernelModel.h"
#include "codegen/cuda/KernelModel.h"
#include "codegen/cuda/attention/Attention.h"

using namespace mlir;
using namespace mp;

template <typename Tensor> static Tensor operandOf(Value operand) {
  return {tensorType(operand),
          {KernelArgument::Kind::Operand,
           cast<BlockArgument>(operand).getArgNumber()}};
}
template <typename Tensor>
static std::optional<Tensor> optionalOf(Value operand) {
  return operand ? std::optional(operandOf<Tensor>(operand)) : std::nullopt;
}

/// The result of the kernel that a result of its anchor is; nothing if it has
/// no use.
template <typename Tensor> static std::optional<Tensor> resultOf(Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<YieldOp>(use.getOwner()))
      return Tensor{tensorType(value),
                    {KernelArgument::Kind::Result, use.getOperandNumber()}};
  return std::nullopt;
}

template <typename Masks, typename Op> static Masks masksOf(Op op) {
  using Tensor = typename decltype(Masks::mask)::value_type;
  return {optionalOf<Tensor>(op.getMask()), optionalOf<Tensor>(op.getLengths()),
          optionalOf<Tensor>(op.getSlopes()),
          optionalOf<Tensor>(op.getDropoutKey())};
}

template <typename Tensors, typename Masks>
static Tensors tensorsOf(ScaledDotProductAttentionOp op) {
  using Tensor = decltype(Tensors::query);
  return {
      operandOf<Tensor>(op.getQuery()), operandOf<Tensor>(op.getKey()),
      operandOf<Tensor>(op.getValue()), masksOf<Masks>(op),
      resultOf<Tensor>(op.getResult()), resultOf<Tensor>(op.getLogSumExp())};
}
template <typename Tensors, typename Masks>
static Tensors tensorsOf(ScaledDotProductAttentionBackwardOp op) {
  using Tensor = decltype(Tensors::query);
  return {operandOf<Tensor>(op.getGradient()),
          operandOf<Tensor>(op.getQuery()),
          operandOf<Tensor>(op.getKey()),
          operandOf<Tensor>(op.getValue()),
          operandOf<Tensor>(op.getLogSumExp()),
          operandOf<Tensor>(op.getDelta()),
          masksOf<Masks>(op),
          resultOf<Tensor>(op.getQueryGradient()),
          resultOf<Tensor>(op.getKeyGradient()),
          resultOf<Tensor>(op.getValueGradient())};
}

namespace {

struct OnCpu {
  static LogicalResult emit(ScaledDotProductAttentionOp op, unsigned workers,
                            cpu::ObjectCompiler &compiler,
                            EmittedKernel &kernel) {
    return cpu::emitAttention(
        shapeOf(op), tensorsOf<cpu::AttentionTensors, cpu::AttentionMasks>(op),
        workers, compiler, kernel);
  }
  static LogicalResult emit(ScaledDotProductAttentionBackwardOp op, unsigned,
                            cpu::ObjectCompiler &compiler,
                            EmittedKernel &kernel) {
    return cpu::emitAttentionGradient(
        shapeOf(op),
        tensorsOf<cpu::AttentionGradientTensors, cpu::AttentionMasks>(op),
        compiler, kernel);
  }
};

struct OnCuda {
  static void emit(ScaledDotProductAttentionOp op, const cuda::Arch &arch,
                   cuda::KernelStore &store, EmittedKernel &kernel) {
    cuda::emitAttention(
        shapeOf(op),
        tensorsOf<cuda::AttentionTensors, cuda::AttentionMasks>(op), arch,
        store, kernel);
  }
  static void emit(ScaledDotProductAttentionBackwardOp op,
                   const cuda::Arch &arch, cuda::KernelStore &store,
                   EmittedKernel &kernel) {
    cuda::emitAttentionGradient(
        shapeOf(op),
        tensorsOf<cuda::AttentionGradientTensors, cuda::AttentionMasks>(op),
        arch, store, kernel);
  }
};

template <typename Op>
struct CpuModel : cpu::CpuKernelModel::ExternalModel<CpuModel<Op>, Op> {
  unsigned accepts(Operation *, StageList, const cpu::EmitOptions &) const {
    return 0;
  }
  FailureOr<EmittedKernel> emit(Operation *op, StageList,
                                const cpu::EmitOptions &options,
                                cpu::ObjectCompiler &compiler) const {
    EmittedKernel kernel;
    if (failed(OnCpu::emit(cast<Op>(op), options.workers, compiler, kernel)))
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
                                const cuda::EmitOptions &options,
                                cuda::KernelStore &store) const {
    EmittedKernel kernel;
    OnCuda::emit(cast<Op>(op), options.arch, store, kernel);
    return kernel;
  }
};

template <typename Op> void attach(MLIRContext *context) {
  Op::template attachInterface<CpuModel<Op>>(*context);
  Op::template attachInterface<CudaModel<Op>>(*context);
}

} // namespace

namespace mp {
void registerAttentionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attach<ScaledDotProductAttentionOp>(context);
    attach<ScaledDotProductAttentionBackwardOp>(context);
  });
}
} // namespace mp
