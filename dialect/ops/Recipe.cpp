//===- Recipe.cpp - what to train, how, and on what -----------------------===//
#include "dialect/Mp.h"

using namespace mlir;
using namespace mp;

LogicalResult ScalerOp::verify() {
  auto number = [](const APFloat &value) { return value.convertToDouble(); };
  if (getPreset() != "torch")
    return emitOpError() << "unknown preset \"" << getPreset()
                         << "\", expected \"torch\"";
  if (!(number(getInitScale()) > 0 &&
        number(getInitScale()) <= std::numeric_limits<float>::max()))
    return emitOpError() << "init_scale is " << number(getInitScale())
                         << ", expected a positive 32-bit float";
  if (!(number(getGrowthFactor()) > 1) || !getGrowthFactor().isFinite())
    return emitOpError() << "growth_factor is " << number(getGrowthFactor())
                         << ", expected more than 1";
  if (!(number(getBackoffFactor()) > 0 && number(getBackoffFactor()) < 1))
    return emitOpError() << "backoff_factor is " << number(getBackoffFactor())
                         << ", expected between 0 and 1";
  if (static_cast<int64_t>(getGrowthInterval()) < 1 ||
      !llvm::isInt<32>(getGrowthInterval()))
    return emitOpError() << "growth_interval is " << getGrowthInterval()
                         << ", expected a positive 32-bit number";
  return success();
}

LogicalResult TrainOp::verify() {
  for (Operation &op : *getBody().begin())
    if (!isa<MinimizeOp>(op))
      return op.emitOpError()
             << "does not belong into a recipe, which holds mp.minimize";
  if (getBody().front().empty())
    return emitOpError()
           << "minimises nothing: write mp.minimize result(0) {...}";
  if (auto count = getAccumulate(); count && int64_t(*count) < 1)
    return emitOpError() << "accumulates " << int64_t(*count)
                         << " micro-batches, expected at least 1";
  return success();
}

LogicalResult TrainOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getFunctionAttr());
  if (!function)
    return emitOpError() << "trains @" << getFunction()
                         << ", which is no function";
  if (getScaler() &&
      !symbols.lookupNearestSymbolFrom<ScalerOp>(*this, getScalerAttr()))
    return emitOpError() << "names @" << *getScaler()
                         << ", which is no mp.scaler";
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
  if (getSchedule() && !isa<ScheduleAttrInterface>(*getSchedule()))
    return emitOpError() << "schedule is " << *getSchedule()
                         << ", expected #mp.constant or #mp.linear";
  return success();
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
