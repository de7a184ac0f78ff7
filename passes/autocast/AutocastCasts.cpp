//===- AutocastCasts.cpp - casts of both autocast modes -------------------===//
#include "passes/autocast/AutocastCasts.h"
#include "dialect/ContractionRules.h"
#include "dialect/ops/Cast.h"
#include "passes/analysis/Constants.h"
#include "passes/analysis/GradientPaths.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mp;

Value CastCache::get(Value value, FloatType type) {
  if (elementType(value) == type)
    return value;
  if (auto upcast = value.getDefiningOp<CastOp>();
      upcast && !isGradientSource(value))
    if (Value narrow = upcast.getInput();
        elementType(narrow) == type &&
        type.getWidth() < mlir::cast<FloatType>(elementType(value)).getWidth())
      return narrow;
  Value &known = casts[{value, type}];
  if (!known) {
    ImplicitLocOpBuilder builder(value.getLoc(), value.getContext());
    builder.setInsertionPointAfterValue(value);
    known = castTo(builder, value, type);
  }
  return known;
}

void CastCache::cast(OpOperand &operand, FloatType type,
                     AutocastReport &report) {
  if (elementType(operand.get()) == type)
    return;
  size_t before = casts.size();
  Value value = get(operand.get(), type);
  report.cast(operand, type, casts.size() > before);
  operand.set(value);
}

SmallVector<OpOperand *> mp::eligibleOperands(AutocastOpInterface op) {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<FloatType>(elementType(operand.get()));
    if (type && !type.isF64() &&
        op.isAutocastEligible(operand.getOperandNumber()))
      operands.push_back(&operand);
  }
  return operands;
}

static FloatType parseFloat8(MLIRContext *context, StringRef name) {
  if (name == "f8E4M3FN")
    return Float8E4M3FNType::get(context);
  return Float8E5M2Type::get(context);
}

void mp::keepReturnedSums(AutocastOpInterface op, const AutocastScope &scope,
                          AutocastReport &report) {
  if (!scope.isEnabled || !scope.policy->keepsSums())
    return;
  auto isReturned = [&](Value result) {
    return elementType(result).isF32() &&
           llvm::any_of(result.getUsers(), [](Operation *user) {
             return user->hasTrait<OpTrait::IsTerminator>();
           });
  };
  auto operands = eligibleOperands(op);
  bool isLow = llvm::all_of(operands, [](OpOperand *operand) {
    return elementType(operand->get()).getIntOrFloatBitWidth() == 16;
  });
  if (!operands.empty() && isLow &&
      llvm::any_of(op->getResults(), isReturned) && op.keepSums())
    report.addReason(op, "and its sums stay f32, in which they are returned");
}

void mp::markStorage(AutocastOpInterface op, const AutocastScope &scope) {
  bool wants = scope.isEnabled && scope.policy->storage();
  if (!wants || !isProduct(op))
    return;
  for (OpOperand *operand : eligibleOperands(op))
    if (elementType(operand->get()).getIntOrFloatBitWidth() != 16)
      return;
  const Storage &storage = *scope.policy->storage();
  MLIRContext *context = op->getContext();
  op->setAttr(kStorageAttr,
              StorageAttr::get(context, parseFloat8(context, storage.forward),
                               parseFloat8(context, storage.backward),
                               storage.amaxHistory, storage.margin));
}

LogicalResult mp::emitBanned(Operation *op, FloatType low,
                             const CastDecision &decision) {
  return op->emitError() << "is banned under autocast to " << low << " ("
                         << decision.rule
                         << "); use a form that does not overflow, such as one "
                            "on logits, or say {mp.autocast = \"f32\"}";
}

LogicalResult mp::checkConstant(OpOperand &operand, FloatType low,
                                StringRef rule) {
  std::string why = whyNotExact(operand.get(), low);
  if (why.empty())
    return success();
  InFlightDiagnostic error = operand.getOwner()->emitError()
                             << why << " in " << low
                             << ", to which autocast casts it (" << rule
                             << "); deny the op, or scale the constant";
  error.attachNote(operand.get().getLoc()) << "the constant";
  return error;
}
