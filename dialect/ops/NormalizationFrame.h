//===- NormalizationFrame.h - what is normalized together -----------------===//
//
// All norms are one computation over different sets of elements. A frame says
// which: it sums elements to statistics and brings statistics and parameters
// back to the elements.
//
// In between are cells. A cell is a channel of a sample where the input is
// [N, C, ...], so that the elements of one lie side by side and a kernel goes
// through them row by row; elsewhere it is an element.
//
//===----------------------------------------------------------------------===//
#ifndef MP_DIALECT_OPS_NORMALIZATIONFRAME_H
#define MP_DIALECT_OPS_NORMALIZATIONFRAME_H

#include "dialect/Expression.h"

namespace mp {

/// Builds at a place, from values in the compute type. Shapes are static.
class NormalizationFrame {
public:
  using Builder = mlir::ImplicitLocOpBuilder;

  /// The last `dims` dimensions together; parameters have an element for each.
  static NormalizationFrame trailing(Builder &b, mlir::RankedTensorType input,
                                     int64_t dims);
  /// Channels of a sample in groups; parameters have an element a channel.
  static NormalizationFrame groups(Builder &b, mlir::RankedTensorType input,
                                   int64_t groups);
  /// A channel in all samples.
  static NormalizationFrame batch(Builder &b, mlir::RankedTensorType input);

  struct Statistics {
    Expression mean, rstd; ///< without a mean, squares are of the elements
  };
  struct Parameters {
    Expression weight, bias; ///< null where there is none
  };

  struct Moments {
    Expression mean, variance;
  };
  /// In two passes: squares are of what a first mean leaves.
  Moments moments(Expression x) const;
  Expression meanSquare(Expression x) const;
  /// 1 / sqrt(variance + eps)
  Expression reciprocalDeviation(Expression variance, double eps) const;
  Expression normalize(Expression x, Statistics s, Parameters p) const;

  struct Gradients {
    Expression input, weight, bias;
  };
  /// From the gradient of the result, as `normalize` and then the statistics
  /// as functions of the input have it.
  Gradients backward(Expression g, Expression x, Statistics s,
                     Expression weight) const;
  /// What the input's gradient gains where the statistics have gradients of
  /// their own; null ones do not count.
  Expression throughStatistics(Expression x, Statistics s,
                               Statistics gradients) const;

  struct BackwardGradients {
    Expression gradient, input, mean, rstd, weight;
  };
  /// The adjoint of `backward` as a function of its operands, from the
  /// gradients of its results.
  BackwardGradients backwardOfBackward(Gradients of, Expression g, Expression x,
                                       Statistics s, Expression weight) const;

  /// Sums of elements, as a parameter has them.
  Expression sumToParameter(Expression elements) const {
    return toParameter(cells(elements));
  }
  Expression sumToStatistic(Expression elements) const {
    return toStatistic(total(folded(cells(elements))));
  }
  /// Statistics and parameters where they broadcast against elements.
  Expression spreadStatistic(Expression statistic) const;
  Expression spreadParameter(Expression parameter) const;
  /// Repeated to the input's shape.
  Expression fill(Expression value) const;

  /// Elements that share a statistic.
  double count() const { return static_cast<double>(cellSize * foldSize); }

private:
  NormalizationFrame(Builder &b, mlir::RankedTensorType input);
  /// Whether a weight is one for all elements of a statistic, and may be taken
  /// into it: fewer numbers reach the elements.
  bool scalesStatistics() const { return statistic == parameter; }
  /// Dimensions after the channel make cells.
  void useCells();
  void foldOver(mlir::ArrayRef<int64_t> shape, mlir::ArrayRef<int64_t> dims);

  Expression cells(Expression elements) const;
  Expression folded(Expression cells) const {
    return reshape(cells, fold.getShape());
  }
  Expression total(Expression folded) const;
  /// The mean of every `size` elements that `sum` adds up, and the sum of the
  /// squares of their distances from it.
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
  /// Where elements are summed to cells, the input's shape; then cells, in the
  /// shape of `fold`, to statistics; and cells to parameters.
  llvm::SmallVector<int64_t> cellDims, foldDims;
  /// Statistics in the shape of `fold`, and of cells.
  llvm::SmallVector<int64_t> keptShape, cellShape;
  int64_t cellSize = 1, foldSize = 1;
  bool hasChannels = false;
};

//===----------------------------------------------------------------------===//
// Frames of ops
//===----------------------------------------------------------------------===//

/// The dimensions that are normalized: what the attribute says, or else those
/// of the parameter.
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
    return NormalizationFrame::groups(b, type, op.getNumGroups());
  } else if constexpr (requires { op.getNormalizedShape(); }) {
    mlir::Value parameter = op.getWeight();
    if constexpr (requires { op.getBias(); })
      parameter = parameter ? parameter : mlir::Value(op.getBias());
    return NormalizationFrame::trailing(
        b, type, normalizedDims(op.getNormalizedShape(), parameter).size());
  } else {
    return NormalizationFrame::batch(b, type);
  }
}

/// Statistics among the operands of a backward op, or among values in their
/// place.
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
