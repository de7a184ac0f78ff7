//===- InPlace.cpp - when a result may take the place of an operand -------===//
#include "codegen/stages/InPlace.h"

using namespace mlir;
using namespace mp;

namespace {

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

bool mp::allowsInPlace(Block &body, unsigned operand, unsigned result,
                       const StageTarget &target) {
  FailureOr<StageProgram> program = analyzeStages(body, target);
  return succeeded(program) && allowsInPlace(*program, operand, result);
}

bool mp::allowsInPlace(const StageProgram &program, unsigned operand,
                       unsigned result) {
  Value from = program.operands[operand], to = program.results[result];
  auto type = cast<RankedTensorType>(from.getType());
  bool mayBePredicate =
      type.getRank() == 0 && type.getElementType().isInteger(1);
  if (type != to.getType() || mayBePredicate)
    return false;
  bool stored = false;
  for (const StageGroup &group : program.groups) {
    if (stored && reads(group, from))
      return false;
    if (!group.stores(to))
      continue;
    stored = true;
    if (group.schedule == LoopSchedule::General)
      return false;
    const Stage *stage = group.producer(to);
    // At any other index, another task may read it.
    Role role = group.role(to);
    if (stage->terminal || (role != Role::Outer && role != Role::Full))
      return false;
    if (!reads(group, from))
      continue;
    if (group.spaces.lookup(from) != group.spaces.lookup(to) ||
        group.repeatedRows.contains(from))
      return false;
    if (role == Role::Full && readsAfter(group, from, stage->level))
      return false;
  }
  return stored;
}
