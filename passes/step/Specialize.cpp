//===- Specialize.cpp - bind the batch dimension --------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/BatchRows.h"

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
    BatchRows rows;
    if (failed(rows.run(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(specialize(function, rows)))
        return signalPassFailure();
  }

private:
  /// Returns the type with its leading `?` bound; null, with an error, if that
  /// fails.
  Type bind(Type type, std::optional<BatchMultiple> multiple,
            Location location) {
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
    BatchMultiple own = multiple.value_or(BatchMultiple());
    auto rows = own.rowsOf(batch);
    if (!rows) {
      emitError(location) << "a batch of " << batch.getValue()
                          << " makes no whole number of rows of " << tensor
                          << ", whose '?' is " << own.str();
      return {};
    }
    SmallVector<int64_t> shape(tensor.getShape());
    shape[0] = *rows;
    return tensor.clone(shape);
  }

  /// Binds types, of which the first have these multiples, and others have the
  /// batch.
  LogicalResult bindAll(TypeRange types,
                        ArrayRef<std::optional<BatchMultiple>> of,
                        Location location, SmallVectorImpl<Type> &bound) {
    for (auto [i, type] : llvm::enumerate(types)) {
      bound.push_back(
          bind(type, i < of.size() ? of[i] : std::nullopt, location));
      if (!bound.back())
        return failure();
    }
    return success();
  }

  LogicalResult specialize(func::FuncOp function, const BatchRows &rows) {
    auto retype = [&](Value value) {
      Type type = bind(value.getType(), rows.of(value), value.getLoc());
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
    SmallVector<Type> results, arguments;
    if (walked.wasInterrupted() ||
        failed(bindAll(function.getResultTypes(), rows.ofResults(function),
                       function.getLoc(), results)) ||
        failed(bindAll(function.getArgumentTypes(), {}, function.getLoc(),
                       arguments)))
      return failure();
    function.setType(FunctionType::get(&getContext(), arguments, results));
    return success();
  }
};
} // namespace
