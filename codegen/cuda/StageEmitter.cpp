#include "codegen/cuda/StageEmitter.h"
#include "codegen/StageArguments.h"
#include "codegen/cuda/GroupPrinter.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

StageTarget mp::cuda::stageTarget() {
  StageTarget target;
  target.chunkElements = 4096;
  target.chunkRows = 4;
  target.mostChunks = 528; // four for each of 132 multiprocessors
  target.wholeElements = 16384;
  return target;
}

FailureOr<EmittedKernel> mp::cuda::emitStages(Block &body, bool predicated,
                                              const EmitOptions &options,
                                              KernelStore &store) {
  FailureOr<StageProgram> program = analyzeStages(body, stageTarget());
  if (failed(program))
    return failure();
  EmittedKernel kernel;
  StageArguments arguments(*program, kernel);
  Value predicate = predicated ? program->operands.back() : Value();
  for (const StageGroup &group : program->groups) {
    StageKernel printed(predicate);
    LogicalResult result = group.schedule == Schedule::General
                               ? printGeneral(group.stages.front().op, printed)
                               : printGroup(group, options.arch, printed);
    if (failed(result))
      return failure();
    KernelLaunch launch;
    for (Value tensor : printed.arguments())
      launch.arguments.push_back(arguments.get(tensor));
    launch.grid = printed.grid;
    launch.block = printed.block;
    launch.shared = printed.sharedBytes();
    launch.symbol = printed.store(store);
    kernel.launches.push_back(std::move(launch));
  }
  return kernel;
}
