#include "codegen/cpu/StageEmitter.h"
#include "codegen/StageAnalysis.h"
#include "codegen/cpu/GroupEmitter.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

namespace {

/// Says which operand, result or temporary each tensor is.
class Arguments {
public:
  Arguments(const StageProgram &program, EmittedKernel &kernel)
      : kernel(kernel) {
    for (auto [i, operand] : llvm::enumerate(program.operands))
      known[operand] = {KernelArgument::Kind::Operand, unsigned(i)};
    for (auto [i, result] : llvm::enumerate(program.results))
      known[result] = {KernelArgument::Kind::Result, unsigned(i)};
  }

  /// A tensor that is neither operand nor result becomes a temporary.
  KernelArgument get(Value tensor) {
    auto [it, isNew] = known.try_emplace(tensor);
    if (isNew) {
      auto type = cast<RankedTensorType>(tensor.getType());
      uint64_t width = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      it->second = {KernelArgument::Kind::Temporary,
                    unsigned(kernel.temporaries.size())};
      kernel.temporaries.push_back(type.getNumElements() * width);
    }
    return it->second;
  }

private:
  EmittedKernel &kernel;
  llvm::DenseMap<Value, KernelArgument> known;
};

} // namespace

llvm::FailureOr<EmittedKernel> mp::cpu::emitStages(Block &body, bool predicated,
                                                   ObjectCompiler &compiler) {
  FailureOr<StageProgram> program = analyzeStages(body);
  if (failed(program))
    return failure();
  EmittedKernel kernel;
  Arguments arguments(*program, kernel);
  Value predicate = predicated ? program->operands.back() : Value();
  for (const StageGroup &group : program->groups) {
    StageFunction function =
        group.schedule == Schedule::General
            ? emitGeneral(group.stages.front().op, predicate)
            : emitGroup(group, predicate);
    KernelLaunch launch;
    for (Value tensor : function.arguments)
      launch.arguments.push_back(arguments.get(tensor));
    launch.grid = function.grid;
    launch.block = function.block;
    launch.shared = function.shared;
    FailureOr<std::string> symbol =
        compiler.compile(std::move(function.module));
    if (failed(symbol))
      return failure();
    launch.symbol = std::move(*symbol);
    kernel.launches.push_back(std::move(launch));
  }
  return kernel;
}
