//===- Backend.cpp - the CPU as a target ----------------------------------===//
//
// Objects made by LLVM, or calls of oneDNN.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/Backend.h"
#include "codegen/cpu/KernelModel.h"
#include "codegen/cpu/nest/StageEmitter.h"
#include "dialect/ops/Kernel.h"
#include <map>
#include <mutex>

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {
/// The code made so far in this process, by target: the remainder batch and
/// evaluation share most kernels with the step.
const ObjectCompiler &sharedCompiler(const Target &target) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>,
                  std::unique_ptr<ObjectCompiler>>
      all;
  std::lock_guard lock(mutex);
  auto &compiler = all[{target.cpu, target.features}];
  if (!compiler)
    compiler = std::make_unique<ObjectCompiler>(target);
  return *compiler;
}

class CpuBackend final : public Backend {
public:
  CpuBackend(const Target &target, std::shared_ptr<CodeStore> store,
             EmitOptions options)
      : compiler(sharedCompiler(target), std::move(store)), options(options) {}

  void describe(Program &program) const override {
    program.target = "cpu";
    program.arch = compiler.target().cpu;
  }

  StageTarget stageTarget() const override { return {}; }

  std::optional<StageList> accepts(const AnchorStages &stages) const override {
    auto model = dyn_cast<CpuKernelModel>(stages.anchor);
    if (!model)
      return std::nullopt;
    StageList chain = stages.chain;
    return chain.take_front(model.accepts(chain, options));
  }

  FailureOr<EmittedKernel> emit(KernelOp kernel) override {
    if (Operation *anchor = anchorOf(kernel)) {
      auto model = dyn_cast<CpuKernelModel>(anchor);
      if (!model)
        return anchor->emitOpError() << "has no kernel on the CPU";
      return model.emit(AnchorStages(anchor).chain, options, compiler);
    }
    // Stages see the flag as their last operand.
    Block &body = kernel.getBody().front();
    if (Value flag = kernel.getPredicate())
      body.addArgument(flag.getType(), flag.getLoc());
    return emitStages(body, bool(kernel.getPredicate()), compiler);
  }

  std::optional<KernelLaunch> guardedCopy(uint64_t bytes) override {
    return std::nullopt;
  }

  Kernel code(StringRef symbol) const override {
    Kernel kernel;
    kernel.symbol = symbol.str();
    kernel.code = compiler.object(symbol).str();
    SmallVector<StringRef> features;
    StringRef(compiler.target().features).split(features, ',', -1, false);
    for (StringRef feature : features)
      if (feature.consume_front("+"))
        kernel.features += (kernel.features.empty() ? "" : ",") + feature.str();
    return kernel;
  }

private:
  ObjectCompiler compiler;
  EmitOptions options;
};
} // namespace

llvm::Expected<std::unique_ptr<Backend>>
mp::cpu::createBackend(const CompileOptions &options, MLIRContext &context) {
  auto target = Target::get(options.arch, options.features);
  if (!target)
    return target.takeError();
  ObjectCompiler::prepare(context);
  EmitOptions emit;
  emit.workers = options.workers;
  emit.onednnF32 = options.onednn;
  // Below AVX-512, oneDNN has only reference code for bf16.
  emit.onednnBf16 = options.onednn && target->has("avx512bw");
  return std::make_unique<CpuBackend>(*target, options.store, emit);
}
