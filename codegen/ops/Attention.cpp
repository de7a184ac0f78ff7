//===- Attention.cpp - attention as a kernel ------------------------------===//
//
// On the CPU: codegen/cpu/attention/Attention.h.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/attention/Attention.h"
#include "codegen/cpu/KernelModel.h"

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
          optionalOf<Tensor>(op.getSlopes())};
}

namespace {

struct OnCpu {
  using Tensor = cpu::LayoutTensor;

  static LogicalResult emit(ScaledDotProductAttentionOp op, unsigned workers,
                            cpu::ObjectCompiler &compiler,
                            EmittedKernel &kernel) {
    cpu::AttentionTensors tensors{
        operandOf<Tensor>(op.getQuery()), operandOf<Tensor>(op.getKey()),
        operandOf<Tensor>(op.getValue()), masksOf<cpu::AttentionMasks>(op),
        resultOf<Tensor>(op.getResult()), resultOf<Tensor>(op.getLogSumExp())};
    return cpu::emitAttention(shapeOf(op), tensors, workers, compiler, kernel);
  }
  static LogicalResult emit(ScaledDotProductAttentionBackwardOp op, unsigned,
                            cpu::ObjectCompiler &compiler,
                            EmittedKernel &kernel) {
    cpu::AttentionGradientTensors tensors{
        operandOf<Tensor>(op.getGradient()),
        operandOf<Tensor>(op.getQuery()),
        operandOf<Tensor>(op.getKey()),
        operandOf<Tensor>(op.getValue()),
        operandOf<Tensor>(op.getLogSumExp()),
        operandOf<Tensor>(op.getDelta()),
        masksOf<cpu::AttentionMasks>(op),
        resultOf<Tensor>(op.getQueryGradient()),
        resultOf<Tensor>(op.getKeyGradient()),
        resultOf<Tensor>(op.getValueGradient())};
    return cpu::emitAttentionGradient(shapeOf(op), tensors, compiler, kernel);
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

} // namespace

namespace mp {
void registerAttentionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    ScaledDotProductAttentionOp::attachInterface<
        CpuModel<ScaledDotProductAttentionOp>>(*context);
    ScaledDotProductAttentionBackwardOp::attachInterface<
        CpuModel<ScaledDotProductAttentionBackwardOp>>(*context);
  });
}
} // namespace mp
