//===- DataParallel.cpp - a step that is one of several ranks' ------------===//
//
// What ranks compute from their own rows is exchanged once, as sums, flags and
// statistics; all that follows is the same on every rank. The arithmetic is
// that of mp-accumulate, with ranks in the place of micro-batches.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Gradients.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"
#include "passes/step/Exchange.h"
#include "passes/step/RankStatistics.h"

namespace mp {
#define GEN_PASS_DEF_DATAPARALLEL
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Rewrites one step.
class Parallel {
public:
  Parallel(func::FuncOp step, const DataParallelOptions &options)
      : step(step), options(options),
        variables(step->getParentOfType<ModuleOp>()),
        b(step.getLoc(), step.getContext()),
        terminator(step.getBody().front().getTerminator()) {
    b.setInsertionPoint(terminator);
  }

  LogicalResult run() {
    step->setAttr(kRanksAttr, b.getI64IntegerAttr(options.ranks));
    findIdle();
    bool applies = phaseOf(step) == kApplyEntry;
    if (!applies &&
        failed(chainStatistics(step, options.ranks, idle, variables)))
      return failure();
    exchangeFlags();
    if (applies)
      exchangeWindow();
    else
      exchangeResults();
    joinExchanges(step, options.bucket);
    return success();
  }

private:
  /// In the last step of an epoch, ranks may have no rows. They take the step
  /// with others' rows, and give nothing.
  void findIdle() {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&step.getBody().front());
    idle = readIdle(b, step.getName(), variables);
  }

  /// Returns what this rank adds to a sum: the value, or zeros.
  Value given(Value value) {
    return SelectOp::create(b, idle, splat(b, number(elementType(value)), 0),
                            value);
  }

  /// Sets each optimizer's flag where any rank's is set; `skipped` is made of
  /// these, if there are several.
  void exchangeFlags() {
    auto flags = skippedFlags(step);
    for (SkippedFlag flag : flags) {
      if (flag.optimizer.empty() && flags.size() > 1)
        continue;
      Value own = flag.returned->get();
      b.setInsertionPointAfterValue(own);
      Value counts = AndOp::create(b, own, NotOp::create(b, idle));
      Value any = allReduce(b, counts, RankReduction::logicalOr);
      own.replaceAllUsesExcept(any, counts.getDefiningOp());
    }
    b.setInsertionPoint(terminator);
  }

  //===--------------------------------------------------------------------===//
  // A step of one micro-batch
  //===--------------------------------------------------------------------===//

  void exchangeResults() {
    // From the last one on, as results that are not numbers go.
    for (unsigned i = step.getNumResults(); i-- > 0;) {
      OpOperand &result = terminator->getOpOperand(i);
      b.setLoc(result.get().getLoc());
      if (step.getResultAttrOfType<FlatSymbolRefAttr>(i, kGradientAttr))
        exchangeGradient(result);
      else if (isOfAllRanks(step.getResultAttrOfType<StringAttr>(i, kNameAttr)))
        continue;
      else if (tensorType(result.get()).getRank() == 0)
        result.set(mean(result.get()));
      else
        drop(i);
    }
    auto types = llvm::to_vector(terminator->getOperandTypes());
    step.setType(b.getFunctionType(step.getArgumentTypes(), types));
  }

  /// Whether a result is the same on all ranks. This holds for flags too, which
  /// have been exchanged.
  static bool isOfAllRanks(StringAttr name) {
    return name && (name == kScaleResult || name == kExhaustedResult ||
                    name == kSkippedResult ||
                    name.getValue().starts_with((kSkippedResult + ".").str()));
  }

  void drop(unsigned result) {
    terminator->eraseOperand(result);
    (void)step.eraseResult(result);
  }

  /// Backward makes gradients one after the other; what is done with each
  /// follows it at once.
  void exchangeGradient(OpOperand &result) {
    auto check = result.get().getDefiningOp<UnscaleAndCheckOp>();
    if (!options.wire.empty())
      return exchangeRounded(check ? check->getOpOperand(0) : result);
    if (check)
      moveUp(check);
    result.set(mean(result.get()));
  }

  /// Returns the mean over all rows of a mean over each rank's.
  Value mean(Value value) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(value);
    Value part = castTo(b, value, widened(elementType(value)));
    if (weight() != 1)
      part =
          MulOp::create(b, part, splat(b, number(elementType(part)), weight()));
    Value total = allReduce(b, given(part));
    b.setInsertionPoint(terminator);
    return DivOp::create(b, total, castTo(b, allRows(), elementType(total)));
  }

  /// Sends a gradient in the type of the wire. It is made a part of the mean
  /// before, so that the sum is no larger than the gradients are.
  void exchangeRounded(OpOperand &gradient) {
    OpBuilder::InsertionGuard guard(b);
    Value value = gradient.get();
    Type wire =
        options.wire == "f16" ? Type(b.getF16Type()) : Type(b.getBF16Type());
    Value part = share();
    b.setInsertionPointAfterValue(value);
    part = MulOp::create(b, castTo(b, value, b.getF32Type()), part);
    Value sum = allReduce(b, castTo(b, given(part), wire));
    b.setInsertionPoint(gradient.getOwner());
    gradient.set(castTo(b, sum, elementType(value)));
  }

  /// Returns the number of rows of all ranks, in f32.
  Value allRows() {
    if (!rows) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(idle);
      rows = allReduce(b, given(splat(b, number(b.getF32Type()), weight())));
    }
    return rows;
  }

  /// Returns the part of all rows that are this rank's, at the beginning of the
  /// step.
  Value share() {
    if (!part) {
      Value all = allRows();
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(all);
      Value own = splat(b, number(b.getF32Type()), weight());
      part = DivOp::create(b, own, all);
    }
    return part;
  }

  double weight() const { return std::max<int64_t>(options.rows, 1); }
  static RankedTensorType number(Type element) {
    return RankedTensorType::get({}, element);
  }
  Type widened(Type element) {
    return element.isF64() ? Type(b.getF64Type()) : Type(b.getF32Type());
  }

  //===--------------------------------------------------------------------===//
  // A step that applies micro-batches
  //===--------------------------------------------------------------------===//

  /// Exchanges the sums that micro-batches left in window variables, and the
  /// last values of statistics.
  void exchangeWindow() {
    SmallVector<ReadOp> reads;
    for (auto read : step.getOps<ReadOp>())
      if (variables.lookup(read.getVariable()).getKind() == StateKind::window &&
          !read.getType().getElementType().isInteger(1))
        reads.push_back(read);
    for (ReadOp read : llvm::reverse(reads))
      read->moveAfter(idle.getDefiningOp());
    if (!reads.empty())
      b.setInsertionPointAfter(reads.back());
    for (ReadOp read : reads) {
      b.setLoc(read.getLoc());
      if (auto write = dyn_cast<WriteOp>(*read->user_begin())) {
        exchangeStatistic(read, write);
        continue;
      }
      Value own = given(read);
      read.getResult().replaceAllUsesExcept(allReduce(b, own),
                                            own.getDefiningOp());
    }
    b.setInsertionPoint(terminator);
  }

  /// The mean of the ranks' values; of whole numbers, which count, all that
  /// ranks have counted.
  void exchangeStatistic(ReadOp read, WriteOp write) {
    Type element = read.getType().getElementType();
    Value all;
    if (element.isInteger()) {
      Value before = ReadOp::create(b, read.getType(), write.getVariable());
      Value counted = allReduce(b, given(SubOp::create(b, read, before)));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(write);
      all = AddOp::create(b, before, counted);
    } else {
      Value sum = allReduce(b, given(castTo(b, read, widened(element))));
      Value ranks = allReduce(b, given(splat(b, number(elementType(sum)), 1)));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(write);
      all = castTo(b, DivOp::create(b, sum, ranks), element);
    }
    write.getValueMutable().assign(all);
  }

  func::FuncOp step;
  const DataParallelOptions &options;
  VariableTable variables;
  ImplicitLocOpBuilder b; ///< at the end of the step
  Operation *terminator;
  Value idle; ///< whether this rank has no rows
  Value rows, part;
};

struct DataParallel : mp::impl::DataParallelBase<DataParallel> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(check()))
      return signalPassFailure();
    if (ranks == 1)
      return markAllAnalysesPreserved();
    for (TrainOp recipe : getOperation().getOps<TrainOp>())
      if (failed(parallelize(recipe)))
        return signalPassFailure();
  }

private:
  LogicalResult check() {
    auto refuse = [&](const Twine &what) {
      return getOperation().emitError() << what;
    };
    if (ranks < 1 || rows < 0 || bucket < 0)
      return refuse("ranks is " + Twine(ranks) + ", rows " + Twine(rows) +
                    " and bucket " + Twine(bucket) +
                    ", expected positive numbers");
    if (!wire.empty() && wire != "f16" && wire != "bf16")
      return refuse("wire is \"" + wire + "\", expected f16 or bf16");
    return success();
  }

  LogicalResult parallelize(TrainOp recipe) {
    func::FuncOp step = lookupStep(recipe);
    if (!step)
      return recipe.emitOpError()
             << "has no step yet: run mp-autodiff before mp-data-parallel";
    if (step->hasAttr(kRanksAttr))
      return step.emitOpError() << "is one of several ranks' already";
    if (failed(refuseGradientsOfRows(
            step, "and ranks use other rows each: train on one rank, or let "
                  "the optimizer update all rows")))
      return failure();
    if (namedResult(step, kGradientNormResult))
      return step.emitOpError() << "is clipped already, by gradients of one "
                                   "rank: run mp-data-parallel before "
                                   "mp-clip-gradients";
    DataParallelOptions options;
    options.ranks = ranks;
    options.rows = rows;
    options.bucket = bucket;
    options.wire = wire;
    return Parallel(step, options).run();
  }
};
} // namespace
