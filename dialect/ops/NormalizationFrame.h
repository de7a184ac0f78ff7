//===- NormalizationFrame.h - sets of elements that norms normalize -------===//
//
// All norms are one computation over different sets of elements. A frame
// describes these sets: it sums elements to statistics and brings statistics
// and parameters back to the elements.
//
// Cells are an intermediate level. If dimensions follow that of the channels, a
// cell is what they hold, which is contiguous, so that a kernel processes it
// row by row: a channel of a sample in [N, C, ...]. A cell of groups is a
// channel of a sample wherever its elements are, so that the groups split few
// numbers. Otherwise a cell is an element.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_OPS_NORMALIZATIONFRAME_H
#define MP_DIALECT_OPS_NORMALIZATIONFRAME_H

#include "dialect/Expression.h"

namespace mp {

/// Builds ops at the builder's place, in the compute type. Shapes are static.
class NormalizationFrame {
public:
  using Builder = mlir::ImplicitLocOpBuilder;

  /// The last `dims` dimensions form a set; parameters have their shape.
  static NormalizationFrame trailing(Builder &b, mlir::RankedTensorType input,
                                     int64_t dims);
  /// Groups of a sample's channels, which dimension `channelDim` has, form a
  /// set; parameters have an element per channel.
  static NormalizationFrame groups(Builder &b, mlir::RankedTensorType input,
                                   int64_t channelDim, int64_t groups);
  /// A channel of all samples forms a set.
  static NormalizationFrame batch(Builder &b, mlir::RankedTensorType input,
                                  int64_t channelDim);

  struct Statistics {
    Expression mean, rstd; ///< if there is no mean, rstd is that of x itself
  };
  struct Parameters {
    Expression weight, bias; ///< null if absent
  };

  struct Moments {
    Expression mean, variance;
  };
  /// Computes them in two passes: squares are of the residuals of a first mean.
  Moments moments(Expression x) const;
  Expression meanSquare(Expression x) const;
  /// 1 / sqrt(variance + eps)
  Expression reciprocalDeviation(Expression variance, double eps) const;
  Expression normalize(Expression x, Statistics s, Parameters p) const;

  struct Gradients {
    Expression input, weight, bias;
  };
  /// The gradients of `normalize`, including those through the statistics as
  /// functions of the input.
  Gradients backward(Expression g, Expression x, Statistics s,
                     Expression weight) const;
  /// The addition to the input's gradient if the statistics have gradients of
  /// their own, either of which may be null.
  Expression throughStatistics(Expression x, Statistics s,
                               Statistics gradients) const;

  struct BackwardGradients {
    Expression gradient, input, mean, rstd, weight;
  };
  /// The adjoint of `backward` as a function of its operands, from the
  /// gradients of its results.
  BackwardGradients backwardOfBackward(Gradients of, Expression g, Expression x,
                                       Statistics s, Expression weight) const;

  /// Sums elements to the shape of a parameter.
  Expression sumToParameter(Expression elements) const {
    return toParameter(cells(elements));
  }
  Expression sumToStatistic(Expression elements) const {
    return toStatistic(total(folded(cells(elements))));
  }
  /// Reshapes statistics and parameters to broadcast against elements.
  Expression spreadStatistic(Expression statistic) const;
  Expression spreadParameter(Expression parameter) const;
  /// Repeats a value to the input's shape.
  Expression fill(Expression value) const;

  /// The number of elements that share a statistic.
  double count() const { return static_cast<double>(cellSize * foldSize); }

private:
  NormalizationFrame(Builder &b, mlir::RankedTensorType input);
  /// Whether all elements of a statistic share one weight, so that it can be
  /// multiplied into the statistic first.
  bool scalesStatistics() const { return statistic == parameter; }
  /// Makes cells of dimensions.
  void useCells(int64_t channelDim, llvm::ArrayRef<int64_t> dims);
  void foldOver(mlir::ArrayRef<int64_t> shape, mlir::ArrayRef<int64_t> dims);

  Expression cells(Expression elements) const;
  Expression folded(Expression cells) const {
    return reshape(cells, fold.getShape());
  }
  Expression total(Expression folded) const;
  /// The mean of every `size` elements that `sum` adds up, and the sum of their
  /// squared distances from it.
  std::pair<Expression, Expression>
  meanAndSquares(Expression x, double size,
                 llvm::function_ref<Expression(Expression)> sum) const;
  Expression toStatistic(Expression total) const {
    return reshape(total, statistic.getShape());
  }
  Expression toParameter(Expression cells) const;
  Expression centered(Expression x, Expression mean) const;
  Expression average(Expression elements) const;
  Expression reshape(Expression value, mlir::ArrayRef<int64_t> shape) const;
  Expression toCells(Expression value, mlir::ArrayRef<int64_t> shape) const;

  Builder &b;
  mlir::RankedTensorType input, fold, statistic, parameter;
  /// The dimensions over which elements of the input are summed to cells, and
  /// over which cells, in the shape of `fold`, are summed to statistics.
  llvm::SmallVector<int64_t> cellDims, foldDims;
  /// The shapes of statistics that broadcast to `fold`, and of cells.
  llvm::SmallVector<int64_t> keptShape, cellShape;
  int64_t cellSize = 1, foldSize = 1;
  /// The channels' dimension, or 0 if none is.
  int64_t channelDim = 0;
};

//===----------------------------------------------------------------------===//
// Frames of ops
//===----------------------------------------------------------------------===//

/// The channels' dimension: that of the attribute, or else the second.
inline int64_t channelDimOr(std::optional<int64_t> attribute) {
  return attribute.value_or(1);
}

/// The normalized dimensions: those of the attribute, or else those of the
/// parameter.
inline llvm::ArrayRef<int64_t>
normalizedDims(std::optional<llvm::ArrayRef<int64_t>> attribute,
               mlir::Value parameter) {
  if (attribute)
    return *attribute;
  return parameter ? tensorType(parameter).getShape()
                   : llvm::ArrayRef<int64_t>();
}

template <typename Op>
NormalizationFrame frameOf(mlir::ImplicitLocOpBuilder &b, Op op) {
  auto type = op.getInput().getType();
  if constexpr (requires { op.getNumGroups(); }) {
    return NormalizationFrame::groups(b, type, channelDimOr(op.getChannelDim()),
                                      op.getNumGroups());
  } else if constexpr (requires { op.getNormalizedShape(); }) {
    mlir::Value parameter = op.getWeight();
    if constexpr (requires { op.getBias(); })
      parameter = parameter ? parameter : mlir::Value(op.getBias());
    return NormalizationFrame::trailing(
        b, type, normalizedDims(op.getNormalizedShape(), parameter).size());
  } else {
    return NormalizationFrame::batch(b, type, channelDimOr(op.getChannelDim()));
  }
}

/// The statistics among the operands of a backward op, or among values that
/// replace them.
template <typename Operands>
NormalizationFrame::Statistics statisticsOf(mlir::ImplicitLocOpBuilder &b,
                                            Operands operands) {
  Expression rstd(b, operands.getRstd());
  if constexpr (requires { operands.getMean(); })
    return {{b, operands.getMean()}, rstd};
  else
    return {Expression(), rstd};
}

} // namespace mp

#endif // MP_DIALECT_OPS_NORMALIZATIONFRAME_H
