//===- BatchRows.cpp - which multiple of the batch each `?` is ------------===//
#include "passes/analysis/BatchRows.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace mp;

LogicalResult BatchRows::run(ModuleOp of) {
  module = of;
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(visit(function)))
      return failure();
  return success();
}

std::optional<BatchMultiple> BatchRows::of(Value value) const {
  if (!hasBatch(value.getType()))
    return std::nullopt;
  return multiples.lookup(value);
}

/// Visits a function after those that it calls.
LogicalResult BatchRows::visit(func::FuncOp function) {
  if (!entered.insert(function).second)
    return success();
  auto multipleOf = [&](Value value) { return of(value); };
  WalkResult walked = function.walk([&](Operation *op) {
    if (auto end = dyn_cast<func::ReturnOp>(op))
      returned[function] =
          llvm::map_to_vector<2>(end.getOperands(), multipleOf);
    if (op->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    auto call = dyn_cast<func::CallOp>(op);
    auto found = call ? visitCall(call) : inferBatchMultiples(op, multipleOf);
    if (failed(found))
      return WalkResult::interrupt();
    for (auto [result, multiple] : llvm::zip(op->getResults(), *found))
      if (multiple)
        multiples[result] = *multiple;
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

FailureOr<BatchMultiples> BatchRows::visitCall(func::CallOp call) {
  for (Value operand : call.getOperands())
    if (auto multiple = of(operand); multiple && *multiple != BatchMultiple())
      return call.emitOpError()
             << "passes " << operand.getType() << ", whose '?' is "
             << multiple->str() << ", to a function whose '?' is the batch: "
             << "run mp-inline before mp-specialize";
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  if (!callee)
    return BatchMultiples();
  if (failed(visit(callee)))
    return failure();
  return ofResults(callee);
}
