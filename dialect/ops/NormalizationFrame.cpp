//===- NormalizationFrame.cpp - the common computation of all norms -------===//
#include "dialect/ops/NormalizationFrame.h"
#include "dialect/ReductionRules.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

using Frame = NormalizationFrame;

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

Frame::NormalizationFrame(Builder &b, RankedTensorType type)
    : b(b), input(type.clone(computeType(type.getElementType()))) {
  cellShape = llvm::to_vector(input.getShape());
}

Frame Frame::trailing(Builder &b, RankedTensorType input, int64_t dims) {
  Frame frame(b, input);
  ArrayRef<int64_t> shape = frame.input.getShape();
  int64_t rank = shape.size();
  frame.foldOver(shape, llvm::to_vector(llvm::seq(rank - dims, rank)));
  frame.statistic = frame.input.clone(frame.keptShape);
  frame.parameter = frame.input.clone(shape.take_back(dims));
  return frame;
}

Frame Frame::groups(Builder &b, RankedTensorType input, int64_t channelDim,
                    int64_t groups) {
  Frame frame(b, input);
  auto cellDims = llvm::to_vector(llvm::seq<int64_t>(1, input.getRank()));
  llvm::erase(cellDims, channelDim);
  frame.useCells(channelDim, cellDims);
  int64_t samples = input.getDimSize(0),
          channels = input.getDimSize(channelDim);
  frame.foldOver({samples, groups, channels / groups}, {2});
  frame.statistic = frame.input.clone({samples, groups});
  return frame;
}

Frame Frame::batch(Builder &b, RankedTensorType input, int64_t channelDim) {
  Frame frame(b, input);
  frame.useCells(channelDim,
                 llvm::to_vector(llvm::seq(channelDim + 1, input.getRank())));
  frame.foldOver(input.getShape().take_front(channelDim + 1),
                 llvm::to_vector(llvm::seq<int64_t>(0, channelDim)));
  frame.statistic = frame.parameter;
  return frame;
}

void Frame::useCells(int64_t channel, ArrayRef<int64_t> dims) {
  channelDim = channel;
  parameter = input.clone({input.getDimSize(channel)});
  for (int64_t dim : dims)
    cellSize *= input.getDimSize(dim);
  if (cellSize == 1)
    return;
  cellDims = llvm::to_vector(dims);
  for (int64_t dim : dims)
    cellShape[dim] = 1;
}

void Frame::foldOver(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  fold = input.clone(shape);
  foldDims = llvm::to_vector(dims);
  keptShape = llvm::to_vector(shape);
  for (int64_t dim : dims) {
    foldSize *= shape[dim];
    keptShape[dim] = 1;
  }
}

//===----------------------------------------------------------------------===//
// Between elements, cells, statistics and parameters
//===----------------------------------------------------------------------===//

Expression Frame::reshape(Expression value, ArrayRef<int64_t> shape) const {
  auto type = tensorType(value).clone(shape);
  if (value.getType() == type)
    return value;
  return {b, ReshapeOp::create(b, type, Value(value))};
}

Expression Frame::cells(Expression elements) const {
  return cellDims.empty() ? elements : sumOver(elements, cellDims);
}

Expression Frame::total(Expression folded) const {
  return foldSize == 1 ? folded : sumOver(folded, foldDims);
}

Expression Frame::toParameter(Expression cells) const {
  if (channelDim && scalesStatistics())
    return toStatistic(total(folded(cells)));
  SmallVector<int64_t> shape(input.getShape()), dims;
  int64_t leading = channelDim ? 1 : input.getRank() - parameter.getRank();
  if (channelDim)
    shape = {input.getDimSize(0), input.getDimSize(channelDim)};
  for (int64_t dim = 0; dim < leading; ++dim)
    dims.push_back(dim);
  Expression rows = reshape(cells, shape);
  if (dims.empty())
    return rows;
  return {b, SumOp::create(b, Value(rows), dims, false)};
}

/// One number per cell. A repeated value is reshaped through a flat list of all
/// cells: fusion stores a view with other dimensions, so that a kernel over
/// elements finds one of these few numbers for each row, not for several rows.
Expression Frame::toCells(Expression value, ArrayRef<int64_t> shape) const {
  auto type = input.clone(shape);
  if (value.getType() != type) {
    Expression all(b, BroadcastOp::create(b, type, Value(value)));
    value = reshape(all, {type.getNumElements()});
  }
  return reshape(value, cellShape);
}

Expression Frame::spreadStatistic(Expression value) const {
  if (!channelDim)
    return value;
  if (scalesStatistics())
    return spreadParameter(value);
  return toCells(reshape(value, keptShape), fold.getShape());
}

Expression Frame::spreadParameter(Expression value) const {
  if (!channelDim)
    return value;
  int64_t channels = input.getDimSize(channelDim);
  if (!cellDims.empty() && channelDim + 1 < input.getRank()) {
    ArrayRef<int64_t> leading = ArrayRef(cellShape).take_front(channelDim + 1);
    return toCells(reshape(value, {1, channels}), leading);
  }
  SmallVector<int64_t> shape(input.getRank() - channelDim, 1);
  shape.front() = channels;
  return reshape(value, shape);
}

Expression Frame::fill(Expression value) const {
  if (value.getType() == input)
    return value;
  return {b, BroadcastOp::create(b, input, Value(value))};
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

Expression Frame::reciprocalDeviation(Expression variance, double eps) const {
  Expression safe = variance + eps, one = safe.number(1);
  return one / sqrt(safe);
}

/// The first mean has the rounding error of a sum. The sum of the residuals
/// corrects it and, by n d^2, the sum of squares (Chan, Golub and LeVeque,
/// "Algorithms for computing the sample variance", 1983), in the pass that
/// computes the squares anyway.
std::pair<Expression, Expression>
Frame::meanAndSquares(Expression x, double size,
                      llvm::function_ref<Expression(Expression)> sum) const {
  Expression guess = sum(x) / size;
  Expression rest = x - guess;
  Expression correction = sum(rest) / size;
  Expression uncorrected = sum(rest * rest);
  Expression squares = uncorrected - correction * correction * size;
  return {guess + correction, max(squares, 0)};
}

/// Cells have moments of their own, which are then combined: a cell of S
/// elements with mean m adds S (m - mean)^2 to its squares (Chan, Golub and
/// LeVeque, "Updating formulae and a pairwise algorithm for computing sample
/// variances", 1979). An input with cells is read only once.
Frame::Moments Frame::moments(Expression x) const {
  Expression means = x, squares;
  if (!cellDims.empty()) {
    std::tie(means, squares) = meanAndSquares(
        x, cellSize, [&](Expression elements) { return cells(elements); });
    squares = folded(squares);
  }
  Expression parts = folded(means);
  if (squares && foldSize == 1)
    return {toStatistic(parts), toStatistic(squares / cellSize)};
  auto [mean, between] = meanAndSquares(
      parts, foldSize, [&](Expression values) { return total(values); });
  if (squares) {
    Expression within = total(squares);
    between = within + between * cellSize;
  }
  Expression variance = between / count();
  return {toStatistic(mean), toStatistic(variance)};
}

Expression Frame::meanSquare(Expression x) const {
  return sumToStatistic(x * x) / count();
}

Expression Frame::centered(Expression x, Expression mean) const {
  return mean ? x - spreadStatistic(mean) : x;
}

Expression Frame::normalize(Expression x, Statistics s, Parameters p) const {
  Expression rest = centered(x, s.mean), y;
  if (p.weight && scalesStatistics()) {
    y = rest * spreadStatistic(s.rstd * p.weight);
  } else {
    y = rest * spreadStatistic(s.rstd);
    if (p.weight)
      y = y * spreadParameter(p.weight);
  }
  return p.bias ? y + spreadParameter(p.bias) : y;
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

// With h = (x - mean) rstd, w the weight and <> the mean over a frame:
//   dx = rstd (w g - <w g> - h <w g h>),   dw = sum(g h),   db = sum(g),
// where <w g> is absent if there is no mean.
Frame::Gradients Frame::backward(Expression g, Expression x, Statistics s,
                                 Expression weight) const {
  Expression rest = centered(x, s.mean);
  Expression sums = cells(g), products = cells(g * rest);
  Expression rstd = spreadStatistic(s.rstd), outer = rstd;
  Expression weighted = g, weightedSums = sums, weightedProducts = products;
  if (weight && scalesStatistics()) {
    outer = spreadStatistic(s.rstd * weight);
  } else if (weight) {
    Expression w = spreadParameter(weight);
    weighted = g * w;
    weightedSums = sums * w;
    weightedProducts = products * w;
  }
  auto shareOf = [&](Expression cells) {
    return toStatistic(total(folded(cells))) / count();
  };
  Expression share = shareOf(weightedProducts);
  Expression slope = share * (s.rstd * s.rstd);
  Expression inner = weighted - rest * spreadStatistic(slope);
  if (s.mean)
    inner = inner - spreadStatistic(shareOf(weightedSums));
  Expression toWeight = scalesStatistics() ? toParameter(products) * s.rstd
                                           : toParameter(products * rstd);
  return {inner * outer, toWeight, toParameter(sums)};
}

/// The sum of two gradients, either of which may be null.
static Expression sumOf(Expression x, Expression y) {
  if (!x)
    return y;
  return y ? x + y : x;
}

// dmean / dx = 1 / count,   drstd / dx = -rstd^3 (x - mean) / count.
Expression Frame::throughStatistics(Expression x, Statistics s,
                                    Statistics gradients) const {
  Expression throughMean, throughRstd;
  if (gradients.mean)
    throughMean = fill(spreadStatistic(gradients.mean * (1 / count())));
  if (gradients.rstd) {
    Expression cube = s.rstd * s.rstd * s.rstd;
    Expression slope = gradients.rstd * cube * (-1 / count());
    Expression rest = centered(x, s.mean);
    throughRstd = rest * spreadStatistic(slope);
  }
  return sumOf(throughMean, throughRstd);
}

Expression Frame::average(Expression elements) const {
  return spreadStatistic(sumToStatistic(elements) * (1 / count()));
}

// With u, v, t the gradients of dx, dw and db, and P u = u - <u> - h <u h>, the
// gradient of w g is rstd P u. That of h is g v - rstd (u <w g h> + w g <u h>),
// from which those of x, mean and rstd follow; that of rstd also contains
// sum(u dx) / rstd.
Frame::BackwardGradients Frame::backwardOfBackward(Gradients of, Expression g,
                                                   Expression x, Statistics s,
                                                   Expression weight) const {
  Expression rstd = spreadStatistic(s.rstd), rest = centered(x, s.mean);
  Expression h = rest * rstd;
  Expression w = weight ? spreadParameter(weight) : Expression();
  Expression weighted = weight ? g * w : g;
  auto project = [&](Expression value, Expression along) {
    Expression projected = value - h * along;
    return s.mean ? projected - average(value) : projected;
  };
  BackwardGradients to;
  Expression toH;
  if (Expression u = of.input) {
    Expression alongU = average(u * h), alongG = average(weighted * h);
    Expression toWeighted = rstd * project(u, alongU);
    to.gradient = weight ? toWeighted * w : toWeighted;
    to.weight = sumToParameter(g * toWeighted);
    Expression bendOfU = u * alongG, bendOfG = weighted * alongU;
    toH = -(bendOfU + bendOfG) * rstd;
    to.rstd = sumToStatistic(u * project(weighted, alongG));
  }
  if (of.weight) {
    Expression v = spreadParameter(of.weight);
    to.gradient = sumOf(to.gradient, v * h);
    toH = sumOf(toH, g * v);
  }
  if (of.bias)
    to.gradient = sumOf(to.gradient, fill(spreadParameter(of.bias)));
  if (!toH)
    return to;
  to.input = toH * rstd;
  if (s.mean)
    to.mean = -sumToStatistic(to.input);
  to.rstd = sumOf(to.rstd, sumToStatistic(toH * rest));
  return to;
}
