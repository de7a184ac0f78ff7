//===- Loop.cpp - a loop, which is planned and not emitted ----------------===//
#include "dialect/ops/Loop.h"
#include "codegen/cpu/KernelModel.h"
#include "codegen/cuda/KernelModel.h"

using namespace mlir;
using namespace mp;

namespace {
/// The kernels of a loop are those of its body: its own has no code.
struct CpuModel : cpu::CpuKernelModel::ExternalModel<CpuModel, LoopOp> {
  unsigned accepts(Operation *, StageList, const cpu::EmitOptions &) const {
    return 0;
  }
  FailureOr<EmittedKernel> emit(Operation *, StageList,
                                const cpu::EmitOptions &,
                                cpu::ObjectCompiler &) const {
    return EmittedKernel();
  }
};

struct CudaModel : cuda::CudaKernelModel::ExternalModel<CudaModel, LoopOp> {
  unsigned accepts(Operation *, StageList, const cuda::EmitOptions &) const {
    return 0;
  }
  FailureOr<EmittedKernel> emit(Operation *, StageList,
                                const cuda::EmitOptions &,
                                cuda::KernelStore &) const {
    return EmittedKernel();
  }
};
} // namespace

namespace mp {
void registerLoopModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    LoopOp::attachInterface<CpuModel>(*context);
    LoopOp::attachInterface<CudaModel>(*context);
  });
}
} // namespace mp
