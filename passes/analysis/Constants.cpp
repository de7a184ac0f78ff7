//===- Constants.cpp - the numbers of a constant --------------------------===//
#include "passes/analysis/Constants.h"
#include "dialect/ops/Constant.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mp;

std::string mp::whyNotExact(Value value, FloatType type) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue())
                           : DenseFPElementsAttr();
  if (!elements || type.isTF32())
    return "";
  for (APFloat number : withoutCopies(elements).getValues<APFloat>()) {
    APFloat narrow = number;
    bool loses;
    narrow.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &loses);
    bool overflows = number.isFinite() && !narrow.isFinite();
    bool vanishes = narrow.isZero() && !number.isZero();
    if (!overflows && !vanishes)
      continue;
    std::string text;
    llvm::raw_string_ostream(text)
        << "constant "
        << llvm::format("%g", FloatAttr::getValueAsDouble(number))
        << " becomes " << (overflows ? "infinite" : "zero");
    return text;
  }
  return "";
}
