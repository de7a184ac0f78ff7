//===- OptimizerModule.cpp - an optimizer's update as functions -----------===//
#include "OptimizerModule.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Reduction.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;

namespace mp {

OptimizerModule optimizerModule(StringRef attribute, StringRef shape) {
  MLIRContext context;
  context.loadDialect<MpDialect, func::FuncDialect>();
  auto optimizer =
      cast<OptimizerAttrInterface>(parseAttribute(attribute, &context));
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  auto b =
      ImplicitLocOpBuilder::atBlockEnd(module->getLoc(), module->getBody());
  auto number = RankedTensorType::get({}, b.getF32Type());
  auto step = RankedTensorType::get({}, b.getI64Type());
  auto tensor = parseType(("tensor<" + shape + "xf32>").str(), &context);

  auto build = [&](StringRef name, ArrayRef<Type> inputs, auto body) {
    OpBuilder::InsertionGuard guard(b);
    auto function =
        func::FuncOp::create(b, name, b.getFunctionType(inputs, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    SmallVector<Value> results = body(ValueRange(function.getArguments()));
    func::ReturnOp::create(b, results);
    function.setType(b.getFunctionType(inputs, ValueRange(results).getTypes()));
  };
  OptimizerModule made;
  for (const SlotSpec &slot : optimizer.getSlots())
    made.slots.push_back(slot.initial);
  size_t state = made.slots.size() + 1;

  SmallVector<Type> inputs{tensor, number, step};
  inputs.append(state, tensor);
  build("update", inputs, [&](ValueRange x) {
    Value gradient = x[0];
    if (optimizer.isMaximizing())
      gradient = NegOp::create(b, gradient);
    return optimizer.buildUpdate(b, x[3], gradient, x.drop_front(4), x[1],
                                 x[2]);
  });
  size_t count = optimizer.getMeasures().size();
  made.bounded = count != 0;
  if (made.bounded) {
    build("measure", SmallVector<Type>(state, tensor), [&](ValueRange x) {
      auto measures = optimizer.buildMeasures(b, x[0], x.drop_front());
      auto all = llvm::to_vector(
          llvm::seq<int64_t>(0, cast<RankedTensorType>(tensor).getRank()));
      for (Value &measure : measures)
        measure = MaxOp::create(b, measure, all, false);
      return measures;
    });
    SmallVector<Type> bounds(count, number);
    bounds.append({number, number, step});
    build("bounds", bounds, [&](ValueRange x) {
      return optimizer.buildBounds(b, x.take_front(count), x[count],
                                   x[count + 1], x[count + 2]);
    });
  }
  llvm::raw_string_ostream(made.text) << *module;
  return made;
}

} // namespace mp
