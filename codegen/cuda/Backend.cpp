//===- Backend.cpp - CUDA as a target -------------------------------------===//
//
// Sources that the runtime compiles, or calls of cuBLASLt and cuDNN.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/Backend.h"
#include "codegen/cuda/KernelModel.h"
#include "codegen/cuda/launches/LoopKernels.h"
#include "codegen/cuda/launches/MergeLaunches.h"
#include "codegen/cuda/nest/StageEmitter.h"
#include "dialect/ops/Kernel.h"

#include <cstdlib>

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

namespace {
class CudaBackend final : public Backend {
public:
  explicit CudaBackend(EmitOptions options) : options(std::move(options)) {}

  void describe(Program &program) const override {
    program.target = "cuda";
    program.arch = options.arch.name();
    program.headers = kernelHeaders();
    if (options.plan)
      program.plan = options.plan->hash();
  }

  StageTarget stageTarget() const override { return cuda::stageTarget(); }

  std::optional<StageList> accepts(const AnchorStages &stages) const override {
    auto model = dyn_cast<CudaKernelModel>(stages.anchor);
    if (!model)
      return std::nullopt;
    StageList all = stages.all;
    return all.take_front(model.accepts(all, options));
  }

  FailureOr<EmittedKernel> emit(KernelOp kernel) override {
    if (Operation *anchor = anchorOf(kernel)) {
      auto model = dyn_cast<CudaKernelModel>(anchor);
      if (!model)
        return anchor->emitOpError() << "has no kernel on CUDA";
      return model.emit(AnchorStages(anchor).all, options, store);
    }
    // Stages see the flag as their last operand.
    Block &body = kernel.getBody().front();
    if (Value flag = kernel.getPredicate())
      body.addArgument(flag.getType(), flag.getLoc());
    return emitStages(body, bool(kernel.getPredicate()), options, store);
  }

  std::optional<KernelLaunch> guardedCopy(uint64_t bytes) override {
    return emitGuardedCopy(bytes, store);
  }

  Kernel code(StringRef symbol) const override {
    Kernel kernel;
    kernel.symbol = symbol.str();
    kernel.code = store.source(symbol).str();
    return kernel;
  }

  void finish(Entry &entry, ArrayRef<StepBufferRefs> refs,
              ProgramBuilder &builder) override {
    std::vector<StepBufferRefs> left = refs.vec();
    if (options.loopKernels)
      left = formLoopKernels(entry, refs, options.arch, builder, store);
    mergeLaunches(entry, left, builder, store);
  }

  bool isFinal(StringRef symbol) const override {
    return store.isFinal(symbol);
  }

private:
  EmitOptions options;
  KernelStore store;
};
} // namespace

/// Reads MP_CUDA_LOOPS, which is there to compare the two.
static llvm::Error readLoopKernels(bool &allowed) {
  const char *chosen = std::getenv("MP_CUDA_LOOPS");
  llvm::StringRef name = chosen && *chosen ? chosen : "kernels";
  allowed = name == "kernels";
  if (allowed || name == "launches")
    return llvm::Error::success();
  return llvm::createStringError("MP_CUDA_LOOPS: '" + name +
                                 "' is neither 'kernels' nor 'launches'");
}

llvm::Expected<std::unique_ptr<Backend>>
mp::cuda::createBackend(const CompileOptions &options, MLIRContext &context) {
  auto arch = Arch::get(options.arch);
  if (!arch)
    return arch.takeError();
  EmitOptions emit;
  emit.arch = *arch;
  emit.cublaslt = options.cublaslt;
  emit.cudnn = options.cudnn;
  if (llvm::Error error = readLoopKernels(emit.loopKernels))
    return error;
  if (!options.plan.empty() || !options.planName.empty()) {
    std::string name =
        options.planName.empty() ? "tuning plan" : options.planName;
    auto plan = TunePlan::parse(options.plan, name);
    if (!plan)
      return plan.takeError();
    if (plan->arch.capability != arch->capability)
      return llvm::createStringError(name + ": made for " + plan->arch.name() +
                                     ", not for " + arch->name());
    emit.plan = std::move(*plan);
  }
  return std::make_unique<CudaBackend>(std::move(emit));
}
