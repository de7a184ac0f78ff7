//===- SyncBatchNorm.cpp - batch norms over the rows of all ranks ---------===//
#include "dialect/Expression.h"
#include "dialect/ops/Normalization.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"
#include "passes/Passes.h"
#include "passes/analysis/VariableTable.h"
#include "passes/step/Exchange.h"
#include "program/Names.h"

namespace mp {
#define GEN_PASS_DEF_SYNCBATCHNORM
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// The batch norm of one op, as its parts.
class Synchronized {
public:
  Synchronized(BatchNormOp op, Value idle)
      : op(op), b(op.getLoc(), op), idle(idle),
        channel(op.getChannelDim().value_or(1)) {
    RankedTensorType type = tensorType(op.getInput());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != channel) {
        others.push_back(dim);
        count *= type.getDimSize(dim);
      }
  }

  void replace() {
    Expression x = Expression(b, op.getInput()).wide();
    Expression own = x.number(count);
    auto [sum, all] = sumsOfRanks(sums(x), own);
    Expression mean = sum / all;
    Expression off = x - ofOthers(mean);
    Expression squares = sumsOfRanks(sums(off * off), own).first;
    Expression variance = squares / all;
    Expression rstd = rsqrt(variance + op.getEps().convertToDouble());
    Expression y = off * ofOthers(rstd);
    if (Value weight = op.getWeight())
      y = y * alongChannels(weight);
    if (Value bias = op.getBias())
      y = y + alongChannels(bias);
    Expression unbiased = squares / (all - 1);
    Value results[] = {y, perChannel(mean), perChannel(rstd),
                       follow(op.getRunningMean(), mean),
                       follow(op.getRunningVar(), unbiased)};
    for (auto [old, made] : llvm::zip_equal(op->getResults(), results))
      old.replaceAllUsesWith(castTo(b, made, elementType(old)));
    op.erase();
  }

private:
  /// Sums over all but the channels, which stay a dimension among ones.
  Expression sums(Expression x) {
    return {b, SumOp::create(b, x, others, /*keepdims=*/true)};
  }

  /// Adds up what ranks with rows have.
  std::pair<Expression, Expression> sumsOfRanks(Expression sum,
                                                Expression rows) {
    Value given[] = {select(Expression(b, idle), 0.0, sum),
                     select(Expression(b, idle), 0.0, rows)};
    auto all = AllReduceOp::create(b, RankReduction::sum, given);
    return {{b, all.getResult(0)}, {b, all.getResult(1)}};
  }

  /// Statistics as a rank's rows see them: the loss of a rank without rows has
  /// no part in their gradient.
  Expression ofOthers(Expression statistic) {
    Expression still(b, StopGradientOp::create(b, statistic));
    return select(Expression(b, idle), still, statistic);
  }

  Expression alongChannels(Value value) {
    SmallVector<int64_t> shape(tensorType(op.getInput()).getRank(), 1);
    shape[channel] = tensorType(value).getDimSize(0);
    Expression wide = Expression(b, value).wide();
    auto type = RankedTensorType::get(shape, elementType(wide));
    return {b, ReshapeOp::create(b, type, wide)};
  }

  Value perChannel(Value statistic) {
    RankedTensorType type = tensorType(statistic);
    return ReshapeOp::create(b, type.clone({type.getDimSize(channel)}),
                             statistic);
  }

  Value follow(Value before, Expression now) {
    double momentum = op.getMomentum().convertToDouble();
    return Expression(b, before).wide() * (1 - momentum) +
           Expression(b, perChannel(now)) * momentum;
  }

  BatchNormOp op;
  ImplicitLocOpBuilder b;
  Value idle;
  int64_t channel;
  SmallVector<int64_t> others; ///< dimensions
  double count = 1;            ///< elements of a channel on this rank
};

struct SyncBatchNorm : mp::impl::SyncBatchNormBase<SyncBatchNorm> {
  using Base::Base;

  void runOnOperation() override {
    VariableTable variables(getOperation());
    for (TrainOp recipe : getOperation().getOps<TrainOp>()) {
      auto function =
          getOperation().lookupSymbol<func::FuncOp>(recipe.getFunction());
      if (function && !function.isExternal())
        synchronize(function, recipe.getEntry(), variables);
    }
  }

private:
  void synchronize(func::FuncOp function, StringRef step,
                   VariableTable &variables) {
    auto norms = llvm::to_vector(function.getOps<BatchNormOp>());
    if (norms.empty())
      return;
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.getBody().front());
    Value idle = readIdle(b, step, variables);
    for (BatchNormOp norm : norms)
      Synchronized(norm, idle).replace();
  }
};
} // namespace
