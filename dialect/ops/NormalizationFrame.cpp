// The computation that all norms are.
#include "dialect/ops/NormalizationFrame.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Math.h"
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

Frame Frame::groups(Builder &b, RankedTensorType input, int64_t groups) {
  Frame frame(b, input);
  frame.useCells();
  int64_t samples = input.getDimSize(0), channels = input.getDimSize(1);
  frame.foldOver({samples, groups, channels / groups}, {2});
  frame.statistic = frame.input.clone({samples, groups});
  return frame;
}

Frame Frame::batch(Builder &b, RankedTensorType input) {
  Frame frame(b, input);
  frame.useCells();
  frame.foldOver(input.getShape().take_front(2), {0});
  frame.statistic = frame.parameter;
  return frame;
}

void Frame::useCells() {
  hasChannels = true;
  parameter = input.clone({input.getDimSize(1)});
  cellSize = llvm::product_of(input.getShape().drop_front(2));
  if (cellSize == 1)
    return;
  for (int64_t dim = 2; dim < input.getRank(); ++dim) {
    cellDims.push_back(dim);
    cellShape[dim] = 1;
  }
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

Value Frame::number(double value) const {
  return splat(b, RankedTensorType::get({}, input.getElementType()), value);
}

Value Frame::reshape(Value value, ArrayRef<int64_t> shape) const {
  auto type = tensorType(value).clone(shape);
  return value.getType() == type ? value
                                 : Value(ReshapeOp::create(b, type, value));
}

Value Frame::cells(Value elements) const {
  return cellDims.empty() ? elements
                          : Value(SumOp::create(b, elements, cellDims, true));
}

Value Frame::total(Value folded) const {
  return foldSize == 1 ? folded
                       : Value(SumOp::create(b, folded, foldDims, true));
}

Value Frame::toParameter(Value cells) const {
  if (hasChannels && scalesStatistics())
    return toStatistic(total(folded(cells)));
  SmallVector<int64_t> shape(input.getShape()), dims;
  int64_t leading = hasChannels ? 1 : input.getRank() - parameter.getRank();
  if (hasChannels)
    shape.truncate(2);
  for (int64_t dim = 0; dim < leading; ++dim)
    dims.push_back(dim);
  Value rows = reshape(cells, shape);
  return dims.empty() ? rows : Value(SumOp::create(b, rows, dims, false));
}

/// One number a cell. What is repeated goes through a list of all cells: a view
/// of other dimensions is what makes fusion store these few numbers, so that
/// kernels over elements find one a row instead of one every so many rows.
Value Frame::toCells(Value value, ArrayRef<int64_t> shape) const {
  auto type = input.clone(shape);
  if (value.getType() != type)
    value =
        reshape(BroadcastOp::create(b, type, value), {type.getNumElements()});
  return reshape(value, cellShape);
}

Value Frame::spreadStatistic(Value value) const {
  if (!hasChannels)
    return value;
  if (scalesStatistics())
    return spreadParameter(value);
  return toCells(reshape(value, keptShape), fold.getShape());
}

Value Frame::spreadParameter(Value value) const {
  if (!hasChannels)
    return value;
  if (!cellDims.empty())
    return toCells(reshape(value, {1, input.getDimSize(1)}),
                   input.getShape().take_front(2));
  SmallVector<int64_t> shape(input.getRank() - 1, 1);
  shape.front() = input.getDimSize(1);
  return reshape(value, shape);
}

Value Frame::fill(Value value) const {
  return value.getType() == input ? value
                                  : Value(BroadcastOp::create(b, input, value));
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

Value Frame::reciprocalDeviation(Value variance, double eps) const {
  Value safe = add(variance, number(eps));
  return div(number(1), SqrtOp::create(b, safe));
}

/// A first mean errs by the rounding of a sum, which is all there is to a row
/// of equal numbers. The sum of what it leaves corrects it and, by n d^2, the
/// squares (Chan, Golub and LeVeque, "Algorithms for computing the sample
/// variance", 1983), in the pass that squares take anyway.
std::pair<Value, Value>
Frame::meanAndSquares(Value x, double size,
                      llvm::function_ref<Value(Value)> sum) const {
  Value guess = div(sum(x), number(size));
  Value rest = sub(x, guess);
  Value correction = div(sum(rest), number(size));
  Value squares =
      sub(sum(mul(rest, rest)), scale(mul(correction, correction), size));
  return {add(guess, correction), MaximumOp::create(b, squares, number(0))};
}

/// Cells have moments of their own, which are then combined: a cell of S
/// elements with mean m adds S (m - mean)^2 to its squares (Chan, Golub and
/// LeVeque, "Updating formulae and a pairwise algorithm for computing sample
/// variances", 1979). The input is read once where it has cells.
Frame::Moments Frame::moments(Value x) const {
  Value means = x, squares;
  if (!cellDims.empty()) {
    std::tie(means, squares) = meanAndSquares(
        x, cellSize, [&](Value elements) { return cells(elements); });
    squares = folded(squares);
  }
  Value parts = folded(means);
  if (squares && foldSize == 1)
    return {toStatistic(parts), toStatistic(div(squares, number(cellSize)))};
  auto [mean, between] = meanAndSquares(
      parts, foldSize, [&](Value values) { return total(values); });
  if (squares)
    between = add(total(squares), scale(between, cellSize));
  Value variance = div(between, number(count()));
  return {toStatistic(mean), toStatistic(variance)};
}

Value Frame::meanSquare(Value x) const {
  return div(sumToStatistic(mul(x, x)), number(count()));
}

Value Frame::centered(Value x, Value mean) const {
  return mean ? sub(x, spreadStatistic(mean)) : x;
}

Value Frame::normalize(Value x, Statistics s, Parameters p) const {
  Value rest = centered(x, s.mean), y;
  if (p.weight && scalesStatistics()) {
    y = mul(rest, spreadStatistic(mul(s.rstd, p.weight)));
  } else {
    y = mul(rest, spreadStatistic(s.rstd));
    if (p.weight)
      y = mul(y, spreadParameter(p.weight));
  }
  if (p.bias)
    y = add(y, spreadParameter(p.bias));
  return y;
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

// With h = (x - mean) rstd, w the weight and <> the mean over a frame:
//   dx = rstd (w g - <w g> - h <w g h>),   dw = sum(g h),   db = sum(g),
// where <w g> is there only if there is a mean.
Frame::Gradients Frame::backward(Value g, Value x, Statistics s,
                                 Value weight) const {
  Value rest = centered(x, s.mean);
  Value sums = cells(g), products = cells(mul(g, rest));
  Value rstd = spreadStatistic(s.rstd), outer = rstd;
  Value weighted = g, weightedSums = sums, weightedProducts = products;
  if (weight && scalesStatistics()) {
    outer = spreadStatistic(mul(s.rstd, weight));
  } else if (weight) {
    Value w = spreadParameter(weight);
    weighted = mul(g, w);
    weightedSums = mul(sums, w);
    weightedProducts = mul(products, w);
  }
  auto shareOf = [&](Value cells) {
    return div(toStatistic(total(folded(cells))), number(count()));
  };
  Value slope = mul(shareOf(weightedProducts), mul(s.rstd, s.rstd));
  Value inner = sub(weighted, mul(rest, spreadStatistic(slope)));
  if (s.mean)
    inner = sub(inner, spreadStatistic(shareOf(weightedSums)));
  Value toWeight = scalesStatistics() ? mul(toParameter(products), s.rstd)
                                      : toParameter(mul(products, rstd));
  return {mul(inner, outer), toWeight, toParameter(sums)};
}

// dmean / dx = 1 / count,   drstd / dx = -rstd^3 (x - mean) / count.
Value Frame::throughStatistics(Value x, Statistics s,
                               Statistics gradients) const {
  Value sum;
  if (gradients.mean)
    sum = fill(spreadStatistic(scale(gradients.mean, 1 / count())));
  if (gradients.rstd) {
    Value cube = mul(mul(s.rstd, s.rstd), s.rstd);
    Value slope = scale(mul(gradients.rstd, cube), -1 / count());
    Value part = mul(centered(x, s.mean), spreadStatistic(slope));
    sum = sum ? add(sum, part) : part;
  }
  return sum;
}

Value Frame::average(Value elements) const {
  return spreadStatistic(scale(sumToStatistic(elements), 1 / count()));
}

// With u, v, t the gradients of dx, dw and db, and P u = u - <u> - h <u h>:
//   to w g:  rstd P u
//   to h:    g v - rstd (u <w g h> + w g <u h>), and from there to x, mean,
//   rstd to rstd: sum(u dx) / rstd besides
Frame::BackwardGradients Frame::backwardOfBackward(Gradients of, Value g,
                                                   Value x, Statistics s,
                                                   Value weight) const {
  Value rstd = spreadStatistic(s.rstd), rest = centered(x, s.mean);
  Value h = mul(rest, rstd);
  Value w = weight ? spreadParameter(weight) : Value();
  Value weighted = weight ? mul(g, w) : g;
  auto project = [&](Value value, Value along) {
    Value projected = sub(value, mul(h, along));
    return s.mean ? sub(projected, average(value)) : projected;
  };
  BackwardGradients to;
  auto gain = [&](Value &known, Value more) {
    known = known ? add(known, more) : more;
  };
  Value toH;
  if (Value u = of.input) {
    Value alongU = average(mul(u, h)), alongG = average(mul(weighted, h));
    Value toWeighted = mul(rstd, project(u, alongU));
    to.gradient = weight ? mul(toWeighted, w) : toWeighted;
    to.weight = sumToParameter(mul(g, toWeighted));
    Value bend = add(mul(u, alongG), mul(weighted, alongU));
    toH = mul(NegOp::create(b, bend), rstd);
    to.rstd = sumToStatistic(mul(u, project(weighted, alongG)));
  }
  if (of.weight) {
    Value v = spreadParameter(of.weight);
    gain(to.gradient, mul(v, h));
    gain(toH, mul(g, v));
  }
  if (of.bias)
    gain(to.gradient, fill(spreadParameter(of.bias)));
  if (!toH)
    return to;
  to.input = mul(toH, rstd);
  if (s.mean)
    to.mean = NegOp::create(b, sumToStatistic(to.input));
  gain(to.rstd, sumToStatistic(mul(toH, rest)));
  return to;
}
