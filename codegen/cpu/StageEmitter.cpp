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

/// Whether a pass after `last` reads `tensor`.
bool readsAfter(const StageGroup &group, Value tensor, unsigned last) {
  for (unsigned level = last + 1; level < group.levels(); ++level)
    if (group.readAt(level).contains(tensor))
      return true;
  return false;
}

bool reads(const StageGroup &group, Value tensor) {
  return llvm::any_of(group.stages, [&](const Stage &stage) {
    return llvm::is_contained(stage.op->getOperands(), tensor);
  });
}

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

bool mp::cpu::allowsInPlace(Block &body, unsigned operand, unsigned result) {
  FailureOr<StageProgram> program = analyzeStages(body);
  if (failed(program))
    return false;
  Value from = program->operands[operand], to = program->results[result];
  auto type = cast<RankedTensorType>(from.getType());
  bool mayBePredicate =
      type.getRank() == 0 && type.getElementType().isInteger(1);
  if (type != to.getType() || mayBePredicate)
    return false;
  bool stored = false;
  for (const StageGroup &group : program->groups) {
    if (stored && reads(group, from))
      return false;
    if (!group.stores(to))
      continue;
    stored = true;
    if (group.schedule == Schedule::General)
      return false;
    const Stage *stage = group.producer(to);
    // Elsewhere than at the group's own index, another task may read it.
    Role role = group.role(to);
    if (stage->terminal || (role != Role::Outer && role != Role::Full))
      return false;
    if (!reads(group, from))
      continue;
    if (group.spaces.lookup(from) != group.spaces.lookup(to))
      return false;
    if (role == Role::Full && readsAfter(group, from, stage->level))
      return false;
  }
  return stored;
}
