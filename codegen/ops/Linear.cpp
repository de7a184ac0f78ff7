//===- Linear.cpp - contractions as kernels -------------------------------===//
//
// On the CPU: oneDNN if it is linked and takes the types, else generated code.
// On CUDA: generated kernels, or cuBLASLt if a tuning plan says so. All add the
// bias in f32 before the one rounding.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Linear.h"
#include "codegen/cpu/KernelModel.h"
#include "codegen/cpu/contraction/Contraction.h"
#include "codegen/cuda/contraction/Contraction.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Ops as contractions
//===----------------------------------------------------------------------===//

/// Whether an op allows its operands to be rounded to tf32.
template <typename Op> static bool allowsTf32(Op op) {
  return op.getCompute() && isa<FloatTF32Type>(*op.getCompute());
}

static ContractionSpec describe(LinearOp op) {
  auto input = op.getInput().getType(), weight = op.getWeight().getType();
  ContractionSpec spec;
  spec.n = weight.getDimSize(0);
  spec.k = weight.getDimSize(1);
  spec.m = input.getNumElements() / spec.k;
  spec.a = spec.b = input.getElementType();
  spec.c = op.getType().getElementType();
  spec.transposeB = true; // a weight is [out, in]
  spec.tf32 = allowsTf32(op);
  if (op.getBias())
    spec.bias = elementType(op.getBias());
  return spec;
}

static ContractionSpec describe(MatmulOp op) {
  auto lhs = op.getLhs().getType(), rhs = op.getRhs().getType(),
       result = op.getType();
  ContractionSpec spec;
  spec.batch = llvm::to_vector(result.getShape().drop_back(2));
  spec.m = result.getShape()[result.getRank() - 2];
  spec.n = result.getShape().back();
  spec.k = lhs.getShape()[lhs.getRank() - (op.getTransposeA() ? 2 : 1)];
  spec.a = spec.b = lhs.getElementType();
  spec.c = result.getElementType();
  spec.tf32 = allowsTf32(op);
  spec.transposeA = op.getTransposeA();
  spec.transposeB = op.getTransposeB();
  spec.broadcastA = lhs.getRank() < result.getRank();
  spec.broadcastB = rhs.getRank() < result.getRank();
  return spec;
}

//===----------------------------------------------------------------------===//
// oneDNN
//===----------------------------------------------------------------------===//

static bool isForOnednn(const ContractionSpec &spec,
                        const cpu::EmitOptions &options) {
  return spec.batch.empty() && ((options.onednnF32 && spec.a.isF32()) ||
                                (options.onednnBf16 && spec.a.isBF16()));
}

/// Returns the rows of the result in a task, by the shape alone: at least 4 M
/// multiplications, so that small products stay whole, and a quarter of the
/// rows up to 256, since every task arranges the whole of B anew.
static int64_t rowsInTask(const ContractionSpec &spec) {
  int64_t enough = llvm::divideCeil(int64_t(1) << 22, spec.n * spec.k);
  int64_t quarter = std::min<int64_t>(spec.m / 4, 256);
  return std::min<int64_t>(spec.m,
                           llvm::alignTo(std::max(enough, quarter), 64));
}

static EmittedKernel emitOnednn(const ContractionSpec &spec) {
  EmittedKernel kernel;
  KernelCall call;
  call.routine = "dnnl.matmul";
  call.attributes = callAttributes(spec);
  call.grid = spec.m;
  call.block = rowsInTask(spec);
  call.flops = spec.flops();
  for (unsigned i = 0; i < (spec.bias ? 3u : 2u); ++i)
    call.arguments.push_back({KernelArgument::Kind::Operand, i});
  call.arguments.push_back({KernelArgument::Kind::Result, 0});
  kernel.call = std::move(call);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
template <typename Op>
struct CpuModel : cpu::CpuKernelModel::ExternalModel<CpuModel<Op>, Op> {
  unsigned accepts(Operation *op, StageList chain,
                   const cpu::EmitOptions &options) const {
    return !chain.empty() && isRelu(chain.front()) ? 1 : 0;
  }

  FailureOr<EmittedKernel> emit(Operation *op, StageList chain,
                                const cpu::EmitOptions &options,
                                cpu::ObjectCompiler &compiler) const {
    ContractionSpec spec = describe(cast<Op>(op));
    spec.relu = !chain.empty();
    auto emitted = isForOnednn(spec, options)
                       ? FailureOr<EmittedKernel>(emitOnednn(spec))
                       : cpu::emitContraction(op->getContext(), spec,
                                              options.workers, compiler);
    if (succeeded(emitted))
      renumberOperands(op, *emitted);
    return emitted;
  }

private:
  /// The emitters count the anchor's operands; the kernel may hold them in
  /// another order, or one of them twice.
  static void renumberOperands(Operation *op, EmittedKernel &kernel) {
    auto renumber = [&](KernelArgument &argument) {
      if (argument.kind == KernelArgument::Kind::Operand)
        argument.index =
            cast<BlockArgument>(op->getOperand(argument.index)).getArgNumber();
    };
    for (KernelLaunch &launch : kernel.launches)
      llvm::for_each(launch.arguments, renumber);
    if (kernel.call)
      llvm::for_each(kernel.call->arguments, renumber);
  }
};

template <typename Op>
struct CudaModel : cuda::CudaKernelModel::ExternalModel<CudaModel<Op>, Op> {
  unsigned accepts(Operation *op, StageList stages,
                   const cuda::EmitOptions &options) const {
    return cuda::acceptedStages(op, stages, describe(cast<Op>(op)), options);
  }

  FailureOr<EmittedKernel> emit(Operation *op, StageList stages,
                                const cuda::EmitOptions &options,
                                cuda::KernelStore &store) const {
    return cuda::emitContraction(op, stages, describe(cast<Op>(op)), options,
                                 store);
  }
};
} // namespace

namespace mp {
void registerLinearModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    LinearOp::attachInterface<CpuModel<LinearOp>>(*context);
    MatmulOp::attachInterface<CpuModel<MatmulOp>>(*context);
    LinearOp::attachInterface<CudaModel<LinearOp>>(*context);
    MatmulOp::attachInterface<CudaModel<MatmulOp>>(*context);
  });
}
} // namespace mp
