//===- Linear.cpp - contractions as kernels -------------------------------===//
//
// On the CPU: codegen/cpu/contraction/Product.h.
// On CUDA: generated kernels, or cuBLASLt if a tuning plan says so. All add the
// bias in f32 before the one rounding.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Linear.h"
#include "codegen/cpu/contraction/Product.h"
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
  // The rows of all matrices are those of one.
  if (spec.broadcastB && !spec.transposeA) {
    spec.m *= llvm::product_of(spec.batch);
    spec.batch.clear();
    spec.broadcastB = false;
  }
  return spec;
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
    return cpu::emitProduct(op, spec, options, compiler);
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
