//===- NumberStreams.cpp - a stream for each random op --------------------===//
#include "dialect/Philox.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Scan.h"
#include "dialect/ops/View.h"
#include "passes/Passes.h"

namespace mp {
#define GEN_PASS_DEF_NUMBERSTREAMS
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Gives the random ops in scans the number of their time step as the last part
/// of their key.
class TimeSteps {
public:
  explicit TimeSteps(ModuleOp module) {
    module.walk([&](RandomOpInterface op) {
      if (op->getParentOfType<ScanOp>() && !hasNumber(op))
        ops.push_back(op);
    });
  }

  void give() {
    for (RandomOpInterface op : ops)
      give(op);
  }

private:
  /// Alone, or after seed, attempt and micro-batch.
  static bool hasNumber(RandomOpInterface op) {
    size_t parts = op.getKeyMutable().size();
    return parts == 1 || parts == 4;
  }

  void give(RandomOpInterface op) {
    SmallVector<Value> key(op.getKeyMutable().getAsOperandRange());
    ImplicitLocOpBuilder b(op.getLoc(), op);
    if (key.size() == 2)
      key.push_back(splat(b, countType(b), 0));
    key.push_back(numberOf(op, b));
    op.getKeyMutable().assign(key);
  }

  /// Returns the number of a time step among those of all scans around it.
  Value numberOf(Operation *op, ImplicitLocOpBuilder &b) {
    auto scan = op->getParentOfType<ScanOp>();
    Value own = numberIn(scan);
    if (!scan->getParentOfType<ScanOp>())
      return own;
    Value steps = splat(b, countType(b), *scan.getSteps());
    Value before = MulOp::create(b, numberOf(scan, b), steps);
    return AddOp::create(b, before, own);
  }

  /// Returns the number of a time step of a scan, which then runs over them.
  Value numberIn(ScanOp scan) {
    Value &number = numbers[scan];
    if (number)
      return number;
    ImplicitLocOpBuilder outside(scan.getLoc(), scan);
    SmallVector<int64_t> shape(scan.getDim(), 1);
    shape.push_back(*scan.getSteps());
    auto type = RankedTensorType::get(shape, outside.getI32Type());
    Value all = IotaOp::create(outside, type, scan.getDim());
    all = CastOp::create(outside, type.clone(outside.getI64Type()), all);
    scan.getSlicedMutable().append(all);
    Block &body = scan.getBody().front();
    number = body.addArgument(scan.sliceOf(tensorType(all)), scan.getLoc());
    if (scan.getDim() != 0) {
      auto inside = ImplicitLocOpBuilder::atBlockBegin(scan.getLoc(), &body);
      number = ReshapeOp::create(inside, countType(inside), number);
    }
    return number;
  }

  static RankedTensorType countType(Builder &b) {
    return RankedTensorType::get({}, b.getI64Type());
  }

  SmallVector<RandomOpInterface> ops;
  DenseMap<Operation *, Value> numbers; ///< by scan
};

struct NumberStreams : mp::impl::NumberStreamsBase<NumberStreams> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(collect(function)))
        return signalPassFailure();
    uint64_t next = 0;
    getOperation().walk([&](RandomOpInterface op) {
      if (op.getStream())
        return;
      while (used.contains(next))
        ++next;
      op.setStream(next++);
    });
    if (failed(checkScans()))
      return signalPassFailure();
    TimeSteps(getOperation()).give();
  }

private:
  /// Fails if a time step could draw from the stream of another op.
  LogicalResult checkScans() {
    RandomOpInterface large, drawing;
    WalkResult walked = getOperation().walk([&](RandomOpInterface op) {
      if (*op.getStream() >= uint64_t(kStreamsPerTimeStep))
        large = op;
      auto scan = op->getParentOfType<ScanOp>();
      if (!scan)
        return WalkResult::advance();
      drawing = op;
      int64_t steps = 1;
      for (; scan; scan = scan->getParentOfType<ScanOp>())
        if (llvm::MulOverflow(steps, *scan.getSteps(), steps) ||
            steps > kStreamsPerTimeStep) {
          op.emitOpError() << "draws in more than " << kStreamsPerTimeStep
                           << " time steps";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    if (!large || !drawing)
      return success();
    auto diagnostic = large->emitOpError()
                      << "draws from stream " << *large.getStream()
                      << ", expected one below " << kStreamsPerTimeStep
                      << " where a scan draws random bits";
    diagnostic.attachNote(drawing->getLoc()) << "an op in a scan";
    return failure();
  }

  LogicalResult collect(func::FuncOp function) {
    // One of several functions may be made from another.
    DenseMap<uint64_t, Operation *> own;
    bool hasBackward = !function.getOps<SeedOp>().empty();
    WalkResult walked = function.walk([&](RandomOpInterface op) {
      if (!op.getStream())
        return WalkResult::advance();
      used.insert(*op.getStream());
      // Of the time steps of a scan each has its own number.
      if (hasBackward || op.drawsAgain() || !op.getKeyMutable().empty())
        return WalkResult::advance();
      auto [known, isNew] = own.try_emplace(*op.getStream(), op);
      if (isNew)
        return WalkResult::advance();
      auto diagnostic = op->emitOpError()
                        << "draws from stream " << *op.getStream()
                        << ", which another op has";
      diagnostic.attachNote(known->second->getLoc()) << "the other op";
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  DenseSet<uint64_t> used;
};
} // namespace
