//===- Recipe.cpp - recipes, minimisations and data sources ---------------===//
#include "dialect/ops/Recipe.h"
#include "dialect/ops/LossScaler.h"
#include "program/Limits.h"
#include "program/Names.h"

using namespace mlir;
using namespace mp;

/// Checks `clip_norm` and `clip_value` of a recipe or of a group.
template <typename Op> static LogicalResult verifyClipping(Op op) {
  auto check = [&](StringRef name,
                   const std::optional<APFloat> &limit) -> LogicalResult {
    if (!limit ||
        (limit->isFinite() && !limit->isNegative() && !limit->isZero()))
      return success();
    return op.emitOpError() << name << " is " << limit->convertToDouble()
                            << ", expected more than 0";
  };
  if (op.getClipNorm() && op.getClipValue())
    return op.emitOpError() << "has clip_norm and clip_value: choose one";
  return success(succeeded(check("clip_norm", op.getClipNorm())) &&
                 succeeded(check("clip_value", op.getClipValue())));
}

LogicalResult TrainOp::verify() {
  for (Operation &op : *getBody().begin())
    if (!isa<MinimizeOp>(op))
      return op.emitOpError()
             << "does not belong into a recipe, which holds mp.minimize";
  if (getBody().front().empty())
    return emitOpError()
           << "minimises nothing: write mp.minimize result(0) {...}";
  if (auto count = getAccumulate())
    if (int64_t number = *count; number < 1 || number > kMostCount)
      return emitOpError() << "accumulates " << number
                           << " micro-batches, expected 1 to " << kMostCount;
  bool clipsAll = getClipNorm() || getClipValue();
  for (auto group : getBody().getOps<MinimizeOp>())
    if (clipsAll && (group.getClipNorm() || group.getClipValue())) {
      auto diagnostic = group.emitOpError()
                        << "clips its gradients, which the recipe clips too";
      diagnostic.attachNote(getLoc()) << "the recipe";
      return diagnostic;
    }
  return verifyClipping(*this);
}

/// Fails if a result has the name of one that a step gets, which would then be
/// taken for it.
static LogicalResult verifyResultNames(TrainOp train, func::FuncOp function) {
  static constexpr StringLiteral kOwn[] = {
      kScaleResult, kSkippedResult, kExhaustedResult, kLearningRateResult,
      kGradientNormResult};
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, kNameAttr);
    if (!name || !llvm::is_contained(kOwn, name.getValue()))
      continue;
    auto diagnostic = train.emitOpError()
                      << "trains @" << function.getName() << ", whose result "
                      << i << " has the name " << name
                      << ", by which a step returns a number of its own";
    diagnostic.attachNote(function.getLoc()) << "the function";
    return diagnostic;
  }
  return success();
}

LogicalResult TrainOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getFunctionAttr());
  if (!function)
    return emitOpError() << "trains @" << getFunction()
                         << ", which is not a function";
  if (failed(verifyResultNames(*this, function)))
    return failure();
  if (getScaler() &&
      !symbols.lookupNearestSymbolFrom<ScalerOp>(*this, getScalerAttr()))
    return emitOpError() << "names @" << *getScaler()
                         << ", which is not an mp.scaler";
  if (getAutocast() && !getAutocast()->getDtype().isF16() &&
      !getAutocast()->getDtype().isBF16())
    return emitOpError() << "autocast to " << getAutocast()->getDtype()
                         << ", expected f16 or bf16";
  for (auto minimize : getBody().getOps<MinimizeOp>()) {
    int64_t result = minimize.getResult(), count = function.getNumResults();
    if (result < 0 || result >= count)
      return minimize.emitOpError() << "minimises result " << result << " of @"
                                    << getFunction() << ", which has " << count;
    auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[result]);
    if (!type || type.getRank() != 0 ||
        !isa<FloatType>(type.getElementType())) {
      auto diagnostic = minimize.emitOpError()
                        << "minimises " << function.getResultTypes()[result]
                        << ", expected one float, tensor<f32>";
      diagnostic.attachNote(function.getLoc())
          << "result " << result << " of @" << getFunction();
      return diagnostic;
    }
  }
  return success();
}

LogicalResult MinimizeOp::verify() {
  for (Attribute pattern : getParams())
    if (cast<StringAttr>(pattern).getValue().empty())
      return emitOpError() << "has an empty pattern in params";
  if (getOptimizerName() && getOptimizerName()->empty())
    return emitOpError() << "has an empty optimizer_name";
  // Numbers are the names of optimizers without a name.
  if (getOptimizerName() && !llvm::isAlpha(getOptimizerName()->front()))
    return emitOpError() << "optimizer_name is \"" << *getOptimizerName()
                         << "\", expected one that begins with a letter";
  if (auto decay = getEma(); decay && !(decay->convertToDouble() >= 0 &&
                                        decay->convertToDouble() <= 1))
    return emitOpError() << "ema is " << decay->convertToDouble()
                         << ", expected between 0 and 1";
  return verifyClipping(*this);
}

LogicalResult DataOp::verify() {
  if (getColumns().empty())
    return emitOpError() << "binds no column";
  for (NamedAttribute column : getColumns())
    if (!isa<ColumnAttr>(column.getValue()))
      return emitOpError() << "column " << column.getName() << " is "
                           << column.getValue()
                           << ", expected #mp.column<\"files*\" as idx, ui8>";
  return success();
}
