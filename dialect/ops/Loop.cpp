//===- Loop.cpp - a loop whose rounds are a function ----------------------===//
#include "dialect/ops/Loop.h"

using namespace mlir;
using namespace mp;

func::FuncOp LoopOp::lookUpBody() {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(*this,
                                                            getBodyAttr());
}

RankedTensorType LoopOp::stackOf(RankedTensorType type, int64_t rounds) {
  SmallVector<int64_t> shape{rounds};
  llvm::append_range(shape, type.getShape());
  return type.clone(shape);
}

/// Checks that types are those that the function has, of which the ones from
/// `stacked` on are of all rounds.
static LogicalResult verifyTypes(LoopOp loop, TypeRange given,
                                 TypeRange declared, size_t stacked,
                                 StringRef what) {
  if (given.size() != declared.size())
    return loop.emitOpError()
           << "has " << given.size() << ' ' << what << ", and @"
           << loop.getBody() << " has " << declared.size();
  for (auto [index, types] : llvm::enumerate(llvm::zip(given, declared))) {
    auto [own, other] = types;
    Type expected = other;
    if (auto tensor = dyn_cast<RankedTensorType>(other);
        tensor && index >= stacked)
      expected = LoopOp::stackOf(tensor, loop.getRounds());
    if (own != expected)
      return loop.emitOpError()
             << "has " << own << " among its " << what << ", and @"
             << loop.getBody() << " needs " << expected;
  }
  return success();
}

/// Whether a function reaches itself by way of the loops in it.
static bool callsItself(func::FuncOp function) {
  DenseSet<Operation *> seen;
  SmallVector<func::FuncOp> work{function};
  while (!work.empty()) {
    bool isFound = false;
    work.pop_back_val().walk([&](LoopOp loop) {
      func::FuncOp body = loop.lookUpBody();
      isFound |= body == function;
      if (body && seen.insert(body).second)
        work.push_back(body);
    });
    if (isFound)
      return true;
  }
  return false;
}

LogicalResult LoopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto body =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getBodyAttr());
  if (!body)
    return emitOpError() << "needs the function @" << getBody()
                         << ", which the module lacks";
  if (body.isExternal())
    return emitOpError() << "calls @" << getBody() << ", which has no body";
  if (callsItself(body))
    return emitOpError() << "calls @" << getBody()
                         << ", which calls itself by way of its loops";
  if (int64_t(getRounds()) < 1)
    return emitOpError() << "has " << int64_t(getRounds()) << " rounds";
  size_t kept = getInvariant().size() + getCarried().size();
  if (failed(verifyTypes(*this, getOperandTypes(), body.getArgumentTypes(),
                         kept, "operands")) ||
      failed(verifyTypes(*this, getResultTypes(), body.getResultTypes(),
                         getCarried().size(), "results")))
    return failure();
  for (auto [index, carried] : llvm::enumerate(getCarried()))
    if (carried.getType() != getResult(index).getType())
      return emitOpError() << "carries " << carried.getType() << ", and leaves "
                           << getResult(index).getType();
  return success();
}
