//===- UnrollScans.cpp - loops become their time steps --------------------===//
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Scan.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/step/RandomStreams.h"

namespace mp {
#define GEN_PASS_DEF_UNROLLSCANS
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Replaces one scan, in which there is no other.
class Unroller {
public:
  Unroller(ScanOp scan, RandomStreams &streams)
      : scan(scan), streams(streams), builder(scan.getLoc(), scan),
        carried(scan.getCarried()),
        stacks(scan.getNumResults() - scan.getCarried().size()) {}

  void run() {
    int64_t count = *scan.getSteps();
    for (auto &stack : stacks)
      stack.resize(count);
    for (int64_t i = 0; i < count; ++i)
      addStep(scan.getReverse() ? count - 1 - i : i, /*isFirst=*/i == 0);
    SmallVector<Value> results(carried);
    for (auto [values, result] :
         llvm::zip_equal(stacks, scan.getResults().drop_front(carried.size())))
      results.push_back(stack(values, tensorType(result)));
    scan->replaceAllUsesWith(results);
    scan->erase();
  }

private:
  void addStep(int64_t step, bool isFirst) {
    Block &body = scan.getBody().front();
    IRMapping mapping;
    for (auto [argument, value] : llvm::zip(body.getArguments(), carried))
      mapping.map(argument, value);
    for (auto [argument, value] : llvm::zip(
             body.getArguments().drop_front(carried.size()), scan.getSliced()))
      mapping.map(argument, slice(value, step, tensorType(argument)));

    auto name = StringAttr::get(scan.getContext(), "time step " + Twine(step));
    Location caller = NameLoc::get(name, scan.getLoc());
    SmallVector<Operation *> copies;
    for (Operation &op : body.without_terminator()) {
      Operation *copy = builder.clone(op, mapping);
      copy->walk([&](Operation *inner) {
        inner->setLoc(CallSiteLoc::get(inner->getLoc(), caller));
      });
      copies.push_back(copy);
    }
    if (!isFirst)
      streams.separate(copies);
    for (auto [index, value] : llvm::enumerate(scan.getYielded())) {
      Value yielded = mapping.lookupOrDefault(value);
      if (index < carried.size())
        next.push_back(yielded);
      else
        stacks[index - carried.size()][step] = yielded;
    }
    carried = std::exchange(next, {});
  }

  /// Returns what a value has at a time step.
  Value slice(Value value, int64_t step, RankedTensorType type) {
    auto whole = tensorType(value);
    SmallVector<int64_t> offsets(whole.getRank(), 0),
        sizes(whole.getRank(), -1);
    offsets[scan.getDim()] = step;
    sizes[scan.getDim()] = 1;
    Value part = SliceOp::create(builder, value, offsets, sizes,
                                 /*strides=*/DenseI64ArrayAttr());
    return ReshapeOp::create(builder, type, part);
  }

  /// Joins the values of all time steps.
  Value stack(ArrayRef<Value> values, RankedTensorType type) {
    if (values.empty())
      return splat(builder, type, 0);
    SmallVector<int64_t> shape(type.getShape());
    shape[scan.getDim()] = 1;
    SmallVector<Value> parts;
    for (Value value : values)
      parts.push_back(ReshapeOp::create(builder, type.clone(shape), value));
    return parts.size() == 1
               ? parts.front()
               : ConcatOp::create(builder, parts, scan.getDim()).getResult();
  }

  ScanOp scan;
  RandomStreams &streams;
  ImplicitLocOpBuilder builder;
  SmallVector<Value> carried, next;
  SmallVector<SmallVector<Value>> stacks; ///< of each result, by time step
};

struct UnrollScans : mp::impl::UnrollScansBase<UnrollScans> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<RandomStreams> streams; // most modules have no scan
    for (auto function : module.getOps<func::FuncOp>()) {
      // Inner scans come first.
      SmallVector<ScanOp> scans;
      function.walk([&](ScanOp scan) { scans.push_back(scan); });
      if (scans.empty())
        continue;
      if (!streams)
        streams.emplace(module);
      streams->enter(function);
      for (ScanOp scan : scans) {
        if (failed(checkSize(function, scan)))
          return signalPassFailure();
        Unroller(scan, *streams).run();
      }
    }
  }

private:
  /// Fails if the function would have too many ops.
  LogicalResult checkSize(func::FuncOp function, ScanOp scan) {
    uint64_t all = 0, body = 0, steps = *scan.getSteps();
    function.walk([&](Operation *) { ++all; });
    scan.getBody().walk([&](Operation *) { ++body; });
    // Each slice and each stacked value takes two more ops.
    body += 2 * (scan.getSliced().size() + scan.getNumResults());
    if (steps == 0 || body <= (kMostOps - std::min(all, kMostOps)) / steps)
      return success();
    return scan.emitOpError()
           << "would give @" << function.getName() << " more than " << kMostOps
           << " ops: it has " << steps << " time steps of some " << body
           << " ops, and scans are unrolled";
  }
};
} // namespace
