//===- Specialize.cpp - bind the batch dimension --------------------------===//
#include "passes/Passes.h"

namespace mp {
#define GEN_PASS_DEF_SPECIALIZE
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct Specialize : mp::impl::SpecializeBase<Specialize> {
  using Base::Base;

  void runOnOperation() override {
    if (batch < 0) {
      getOperation().emitError()
          << "batch is " << batch.getValue() << ", expected a positive number";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(specialize(function)))
        return signalPassFailure();
  }

private:
  /// Returns the type with its leading `?` bound; null, with an error, if that
  /// fails.
  Type bind(Type type, Location location) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.hasStaticShape())
      return type;
    if (ArrayRef<int64_t> inner = tensor.getShape().drop_front();
        llvm::any_of(inner, ShapedType::isDynamic)) {
      emitError(location) << tensor
                          << " has a '?' that is not its leading dimension";
      return {};
    }
    if (batch == 0) {
      emitError(location)
          << tensor << " has a batch dimension: give mp-specialize a batch";
      return {};
    }
    SmallVector<int64_t> shape(tensor.getShape());
    shape[0] = batch;
    return tensor.clone(shape);
  }

  LogicalResult specialize(func::FuncOp function) {
    auto retype = [&](Value value) {
      Type type = bind(value.getType(), value.getLoc());
      if (type)
        value.setType(type);
      return success(bool(type));
    };
    WalkResult walked = function.walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          if (failed(retype(argument)))
            return WalkResult::interrupt();
      for (Value result : op->getResults())
        if (failed(retype(result)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    SmallVector<Type> results;
    for (Type type : function.getResultTypes()) {
      results.push_back(bind(type, function.getLoc()));
      if (!results.back())
        return failure();
    }
    SmallVector<Type> arguments;
    for (Type type : function.getArgumentTypes()) {
      arguments.push_back(bind(type, function.getLoc()));
      if (!arguments.back())
        return failure();
    }
    function.setType(FunctionType::get(&getContext(), arguments, results));
    return success();
  }
};
} // namespace
