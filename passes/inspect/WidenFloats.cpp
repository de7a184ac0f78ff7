//===- WidenFloats.cpp - compute in f64, or in f32 ------------------------===//
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/State.h"
#include "mlir/IR/Verifier.h"
#include "passes/Passes.h"

namespace mp {
#define GEN_PASS_DEF_WIDENFLOATS
#include "passes/inspect/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct WidenFloats : mp::impl::WidenFloatsBase<WidenFloats> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (to != "f64" && to != "f32") {
      function.emitError() << "floats are widened to \"" << to
                           << "\", expected f64 or f32";
      return signalPassFailure();
    }
    if (function.isExternal())
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitOpError() << "has control flow, which is not widened";
      return signalPassFailure();
    }
    for (AutocastOp region : function.getOps<AutocastOp>()) {
      region.emitOpError("mp-autocast has to take the region away first");
      return signalPassFailure();
    }
    wide = to == "f64" ? Type(Float64Type::get(&getContext()))
                       : Type(Float32Type::get(&getContext()));
    before.clear();
    made.clear();
    Block &body = function.getBody().front();
    for (Value argument : body.getArguments())
      if (isNarrow(argument) && !isWidened(argument))
        widen(argument);
    Operation *terminator = body.getTerminator();
    for (Operation &op : llvm::make_early_inc_range(body))
      if (&op != terminator && !made.contains(&op))
        visit(&op);
    function.setType(FunctionType::get(&getContext(),
                                       function.getArgumentTypes(),
                                       terminator->getOperandTypes()));
  }

private:
  bool isNarrow(Value value) const {
    return isFloatTensor(value) && elementType(value).getIntOrFloatBitWidth() <
                                       wide.getIntOrFloatBitWidth();
  }
  /// Whether only casts to the wide type read a value.
  bool isWidened(Value value) const {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return isa<CastOp>(user) && elementType(user->getResult(0)) == wide;
    });
  }

  void visit(Operation *op) {
    bool takesFloats = llvm::any_of(op->getOperands(), isFloatTensor);
    if (auto cast = dyn_cast<CastOp>(op)) {
      // A value written to a variable has the variable's type.
      bool isStored = !op->use_empty() &&
                      llvm::all_of(op->getUsers(), llvm::IsaPred<WriteOp>);
      if (isNarrow(cast.getResult()) && !isStored)
        retype(op->getResult(0));
    } else if (!takesFloats) {
      // The op makes values from no floats: read, constant, drawn.
      moveNumber(op);
    } else if (!computeWide(op)) {
      keepTypes(op);
    }
  }

  void retype(OpResult result) {
    before[result] = result.getType();
    result.setType(tensorType(result).clone(wide));
  }

  /// Returns whether an op that takes floats has wide results now. An op that
  /// multiplies in 8 bits stops doing so.
  bool computeWide(Operation *op) {
    op->removeAttr(kStorageAttr);
    auto facts = dyn_cast<AutocastOpInterface>(op);
    if (!facts)
      return false;
    SmallVector<Type> types(op->getResultTypes());
    ScopedDiagnosticHandler quiet(&getContext(),
                                  [](Diagnostic &) { return success(); });
    if (succeeded(facts.retypeResults()) && succeeded(verify(op, false))) {
      for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
        if (result.getType() != type)
          before[result] = type;
      for (OpResult result : op->getResults())
        if (isNarrow(result))
          widen(result);
      return true;
    }
    for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
      result.setType(type);
    return false;
  }

  /// Makes the op compute the same as before, on operands cast back.
  void keepTypes(Operation *op) {
    if (op->getNumResults() > 0)
      op->emitWarning() << op->getName() << " takes no " << to
                        << " and keeps its types in what others "
                           "are compared with";
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    for (OpOperand &operand : op->getOpOperands())
      if (Type type = before.lookup(operand.get()))
        operand.set(castTo(builder, operand.get(),
                           cast<RankedTensorType>(type).getElementType()));
    for (OpResult result : op->getResults())
      if (isNarrow(result))
        widen(result);
  }

  /// Casts the op's results; the cast now has the op's number.
  void moveNumber(Operation *op) {
    for (OpResult result : op->getResults()) {
      if (!isNarrow(result) || isWidened(result))
        continue;
      Operation *cast = widen(result);
      if (Attribute number = op->getAttr(kNumberAttr);
          number && op->getNumResults() == 1) {
        cast->setAttr(kNumberAttr, number);
        op->removeAttr(kNumberAttr);
      }
    }
  }

  Operation *widen(Value value) {
    ImplicitLocOpBuilder builder(value.getLoc(), value.getContext());
    builder.setInsertionPointAfterValue(value);
    Value cast = castTo(builder, value, wide);
    before[cast] = value.getType();
    made.insert(cast.getDefiningOp());
    value.replaceAllUsesExcept(cast, cast.getDefiningOp());
    return cast.getDefiningOp();
  }

  Type wide;
  /// The types that values had.
  DenseMap<Value, Type> before;
  llvm::DenseSet<Operation *> made;
};
} // namespace
