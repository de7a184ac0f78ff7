//===- StageEmitter.cpp - stage kernels on the CPU ------------------------===//
#include "codegen/cpu/nest/StageEmitter.h"
#include "codegen/cpu/nest/GroupEmitter.h"
#include "codegen/stages/StageArguments.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

llvm::FailureOr<EmittedKernel> mp::cpu::emitStages(Block &body, bool predicated,
                                                   ObjectCompiler &compiler) {
  FailureOr<StageProgram> program = analyzeStages(body, StageTarget());
  if (failed(program))
    return failure();
  EmittedKernel kernel;
  StageArguments arguments(*program, kernel);
  Value predicate = predicated ? program->operands.back() : Value();
  for (const StageGroup &group : program->groups) {
    StageFunction function =
        group.schedule == LoopSchedule::General
            ? emitGeneral(group.stages.front().op, predicate)
            : emitGroup(group, predicate);
    KernelLaunch launch;
    for (Value tensor : function.arguments)
      launch.arguments.push_back(arguments.get(tensor));
    launch.grid = function.grid;
    launch.block = function.block;
    launch.shared = function.shared;
    launch.flops = flopsOf(group);
    FailureOr<std::string> symbol =
        compiler.compile(std::move(function.module));
    if (failed(symbol))
      return failure();
    launch.symbol = std::move(*symbol);
    kernel.launches.push_back(std::move(launch));
  }
  return kernel;
}
