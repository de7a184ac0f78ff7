//===- StageEmitter.cpp - stage kernels on CUDA ---------------------------===//
#include "codegen/cuda/nest/StageEmitter.h"
#include "codegen/cuda/nest/GroupPrinter.h"
#include "codegen/stages/StageArguments.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

StageTarget mp::cuda::stageTarget() {
  StageTarget target;
  target.chunkElements = 4096;
  target.chunkRows = 4;
  target.mostChunks = 528; // four for each of 132 multiprocessors
  target.mostRows = 2048;  // shared by up to eight warps
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
    LogicalResult result = group.schedule == LoopSchedule::General
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
    launch.flops = flopsOf(group);
    launch.symbol = printed.store(store);
    kernel.launches.push_back(std::move(launch));
  }
  return kernel;
}

KernelLaunch mp::cuda::emitGuardedCopy(uint64_t bytes, KernelStore &store) {
  constexpr int64_t threads = 256, width = 16;
  std::string index =
      bytes < (uint64_t(1) << 31) - threads * width ? "int" : "long long";
  SourceText text;
  text.open("inline void BODY_NAME(int block, " + index +
            " count, Global<unsigned char> to,\n"
            "                 Global<unsigned char> from, "
            "Global<unsigned char> flag)");
  text.line("if (!flag.load(0))");
  text.line("  return;");
  text.line("const int thread = threadIdx.x;");
  text.line("const " + index + " at = (static_cast<" + index +
            ">(block) * 256 + thread) * 16;");
  text.line("if (at + 16 <= count)");
  text.line("  storeItems(to, at, loadItems<16>(from, at));");
  text.line("else");
  text.line("  for (" + index + " i = at; i < count; ++i)");
  text.line("    to.store(i, from.load(i));");
  text.close();
  StagePart part;
  part.function = text.str();
  int64_t count = bytes;
  part.counts = {count};
  part.parameters = {
      {"unsigned char", count}, {"unsigned char", count}, {"unsigned char", 1}};
  part.grid = llvm::divideCeil(bytes, threads * width);
  part.block = threads;
  KernelLaunch launch;
  launch.grid = part.grid;
  launch.block = part.block;
  launch.symbol = store.add(std::move(part));
  return launch;
}
