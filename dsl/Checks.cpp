//===- Checks.cpp - names, types and numbers that a graph takes -----------===//
#include "dialect/ops/LossScaler.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "dsl/GraphState.h"
#include "support/Number.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace mantissa {

bool isElementType(ElementType element) {
  return element >= ElementType::I1 && element <= ElementType::U32;
}

/// Returns what has the name in the module; "" if nothing has it.
static StringRef ownerOf(ModuleOp module, StringRef name) {
  // A recipe is no symbol yet, but the name of the function that it becomes.
  for (auto recipe : module.getOps<mp::TrainOp>())
    if (recipe.getEntry() == name)
      return "a recipe";
  Operation *owner = module.lookupSymbol(name);
  if (!owner)
    return "";
  return TypeSwitch<Operation *, StringRef>(owner)
      .Case([](mp::VariableOp) { return "a variable"; })
      .Case([](mp::ScalerOp) { return "a loss scaler"; })
      .Case([](mp::DataOp) { return "a data source"; })
      .Case([](func::FuncOp function) {
        return function.isPrivate() ? "a function" : "the graph's own function";
      })
      .Default([](Operation *) { return "something else"; });
}

bool GraphState::declare(StringRef what, const std::string &name, Place place) {
  if (name.empty())
    return bool(mistake(what + " needs a name", place));
  if (StringRef owner = ownerOf(*module, name); !owner.empty())
    return bool(mistake("the name '" + name + "' of " + what +
                            " is taken: " + owner + " has it",
                        place));
  return true;
}

bool GraphState::acceptType(const Twine &what, ElementType element,
                            const Dims &shape, Place place) {
  if (!isElementType(element))
    return bool(mistake(what +
                            " has no element type: there is no ElementType " +
                            Twine(static_cast<int>(element)),
                        place));
  for (auto [i, size] : llvm::enumerate(shape))
    if (size < 0 && (size != Batch || i > 0))
      return bool(mistake(what + " of " + typeText(element, shape) +
                              " has a size that is not known: only the first "
                              "may be Batch",
                          place));
  return true;
}

bool GraphState::holds(Type element, double value, Place place) {
  std::string why;
  if (auto floats = dyn_cast<FloatType>(element)) {
    APFloat converted(value);
    bool losesInfo;
    converted.convert(floats.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                      &losesInfo);
    if (!std::isfinite(value) || converted.isFinite())
      return true;
    why = "it is too large";
  } else {
    auto integer = cast<IntegerType>(element);
    bool isSigned = integer.getWidth() > 1 && !integer.isUnsigned();
    // A number is a double, which is exact up to 2^53.
    double limit = std::exp2(std::min(integer.getWidth() - isSigned, 53u));
    bool isWhole = value == std::floor(value);
    if (isWhole && value < limit && value >= (isSigned ? -limit : 0))
      return true;
    why = isWhole ? "it is out of range"
                  : "cast the tensor to another type first";
  }
  return bool(mistake("the number " + mp::shortestDecimal(value) +
                          " is not a value of " +
                          mp::elementTypeName(elementOf(element)) + ": " + why,
                      place));
}

} // namespace mantissa
