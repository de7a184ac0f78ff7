//===- ViewText.cpp - what the nodes of a picture say ---------------------===//
#include "passes/inspect/view/ViewText.h"
#include "passes/Passes.h"
#include "passes/inspect/view/View.h"
#include "support/Json.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mp;
using namespace mp::view;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

ElementClass view::elementClassOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isF64())
    return ElementClass::F64;
  if (element.isF32())
    return ElementClass::F32;
  if (element.isF16())
    return ElementClass::F16;
  if (element.isBF16())
    return ElementClass::BF16;
  if (auto number = dyn_cast<FloatType>(element))
    return number.getWidth() == 8 ? ElementClass::F8 : ElementClass::None;
  if (element.isInteger(1))
    return ElementClass::Flag;
  return element.isIntOrIndex() ? ElementClass::Int : ElementClass::None;
}

llvm::StringLiteral view::nameOf(ElementClass precision) {
  static constexpr llvm::StringLiteral names[] = {"f64", "f32", "f16", "bf16",
                                                  "f8",  "int", "i1",  "none"};
  static_assert(std::size(names) == kElementClasses);
  return names[static_cast<unsigned>(precision)];
}

llvm::StringLiteral view::describe(ElementClass precision) {
  static constexpr llvm::StringLiteral texts[] = {
      "f64",          "f32",      "f16",   "bf16",
      "8-bit floats", "integers", "flags", "other types"};
  static_assert(std::size(texts) == kElementClasses);
  return texts[static_cast<unsigned>(precision)];
}

llvm::StringLiteral view::nameOf(Change change) {
  switch (change) {
  case Change::None:
    return "";
  case Change::New:
    return "new";
  case Change::Changed:
    return "changed";
  case Change::Gone:
    return "gone";
  }
  llvm_unreachable("all changes are handled");
}

std::string view::shortType(Type type) {
  std::string text = typeName(type);
  StringRef inner = text;
  if (inner.consume_front("tensor<") && inner.consume_back(">"))
    return inner.str();
  return text;
}

std::string view::placeOf(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(),
                       file.getLine(), file.getColumn());
}

std::string view::elementsOf(Operation *op) {
  auto join = [](TypeRange types) {
    return llvm::join(
        llvm::map_range(
            types,
            [](Type type) { return typeName(getElementTypeOrSelf(type)); }),
        ", ");
  };
  return join(op->getOperandTypes()) + " → " + join(op->getResultTypes());
}

std::string view::textOf(Operation *op, AsmState &state) {
  constexpr size_t limit = 400;
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, state);
  if (text.size() > limit) {
    text.resize(limit);
    text += "...";
  }
  llvm::SetVector<StringRef> inner;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *nested) {
      if (!nested->hasTrait<OpTrait::IsTerminator>())
        inner.insert(nested->getName().getStringRef());
    });
  if (!inner.empty())
    text += "\nof " + llvm::join(inner, ", ");
  return text;
}

std::string view::stageTitle(Operation *stage) {
  constexpr unsigned limit = 3;
  llvm::SetVector<StringRef> names;
  for (Region &region : stage->getRegions())
    for (Operation &op : region.getOps()) {
      StringRef name = op.getName().stripDialect();
      bool isIncidental =
          op.hasTrait<OpTrait::IsTerminator>() ||
          op.hasTrait<OpTrait::ConstantLike>() ||
          llvm::is_contained({"extf", "truncf", "bitcast"}, name);
      if (!isIncidental)
        names.insert(name);
    }
  if (names.empty())
    return stage->getName().stripDialect().str();
  std::string title = llvm::join(names.getArrayRef().take_front(limit), ", ");
  return names.size() > limit ? title + ", ..." : title;
}

std::string view::constantText(Attribute value) {
  auto number = splatValue(value);
  if (auto scalar = dyn_cast<FloatAttr>(value))
    number = scalar.getValueAsDouble();
  if (auto scalar = dyn_cast<IntegerAttr>(value))
    number = scalar.getValue().roundToDouble();
  if (!number)
    return "constant";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", *number);
  return text;
}

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

/// The function does not count: mp-autodiff makes a step of it.
static std::string keyOf(StringRef op, StringRef source) {
  return (op + "\n" + source).str();
}

Reasons::Reasons(ModuleOp module) {
  auto recorded = module->getAttrOfType<StringAttr>(kCastsAttr);
  if (!recorded)
    return;
  auto all = parseJson(recorded.getValue());
  if (!all) {
    llvm::consumeError(all.takeError());
    return;
  }
  auto objectsOf = [](const llvm::json::Array *array) {
    SmallVector<const llvm::json::Object *> objects;
    if (array)
      for (const llvm::json::Value &value : *array)
        if (auto *object = value.getAsObject())
          objects.push_back(object);
    return objects;
  };
  auto text = [](const llvm::json::Object *object, StringRef field) {
    return object->getString(field).value_or("");
  };
  for (const auto *function : objectsOf(all->getAsArray()))
    for (const auto *op : objectsOf(function->getArray("ops")))
      reasons[keyOf(text(op, "op"), text(op, "source"))] =
          (text(op, "category") + ": " + text(op, "why")).str();
}

std::string Reasons::of(Operation *op) const {
  if (reasons.empty())
    return "";
  return reasons.lookup(
      keyOf(op->getName().getStringRef(), placeOf(op->getLoc())));
}
