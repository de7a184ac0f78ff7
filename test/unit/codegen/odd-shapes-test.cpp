//===- odd-shapes-test.cpp - every dimension, every permutation -----------===//
//
// Ops through the whole path against loops that a reader can check: reductions
// over every set of dimensions, transposes by every permutation, softmax along
// each, losses of one row and of one class.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <map>

using namespace mp;
using namespace llvm;

namespace {

using Shape = std::vector<int64_t>;

std::string spelled(const TensorType &type) {
  return "tensor<" + type.str() + ">";
}
template <typename Range> std::string list(const Range &range) {
  return join(map_range(range, [](auto x) { return std::to_string(x); }), ", ");
}

/// Returns numbers that no rounding changes, in no order.
Numbers numbersOf(const TensorType &type) {
  Numbers numbers(type.elements());
  for (auto [i, number] : enumerate(numbers))
    number = int64_t(i * 37 % 53) / 8.0 - 3;
  return numbers;
}

/// Returns the one result of `op`, which reads %a, %b, ... of the given types.
Numbers evaluate(StringRef op, ArrayRef<TensorType> types,
                 ArrayRef<Numbers> inputs, const TensorType &result) {
  std::vector<std::string> arguments;
  for (auto [i, type] : enumerate(types))
    arguments.push_back(formatv("%{0}: {1}", char('a' + i), spelled(type)));
  std::string module =
      formatv("func.func @f({0}) -> {1} {{\n  %r = {2}\n  return %r : {1}\n}\n",
              join(arguments, ", "), spelled(result), op);
  Expected<GoldenFunction> function = GoldenFunction::compile(module);
  if (!function) {
    ADD_FAILURE() << toString(function.takeError()) << "\n" << module;
    return Numbers(result.elements());
  }
  Expected<std::vector<Numbers>> computed = (*function)(inputs);
  if (!computed) {
    ADD_FAILURE() << toString(computed.takeError()) << "\n" << module;
    return Numbers(result.elements());
  }
  return computed->front();
}

void expectNear(const Numbers &got, const Numbers &wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i]))
      EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    else
      ASSERT_LE(std::abs(got[i] - wanted[i]),
                tolerance * std::max(1.0, std::abs(wanted[i])))
          << "element " << i << " is " << got[i] << ", expected " << wanted[i];
  }
}

/// The indices of an element.
Shape indicesOf(int64_t element, const Shape &shape) {
  Shape indices(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; element /= shape[dim])
    indices[dim] = element % shape[dim];
  return indices;
}
int64_t elementAt(const Shape &indices, const Shape &shape) {
  int64_t element = 0;
  for (auto [index, size] : zip_equal(indices, shape))
    element = element * size + index;
  return element;
}

class Reductions : public testing::TestWithParam<Shape> {};

TEST_P(Reductions, OverEverySetOfDimensions) {
  TensorType type{ElementType::F32, GetParam()};
  Numbers numbers = numbersOf(type);
  for (unsigned set = 1; set < 1u << type.shape.size(); ++set) {
    std::vector<unsigned> dims;
    TensorType kept = type;
    for (unsigned dim = 0; dim < type.shape.size(); ++dim)
      if (set >> dim & 1) {
        dims.push_back(dim);
        kept.shape[dim] = 1;
      }
    Numbers sum(kept.elements()), max(kept.elements(), -INFINITY);
    for (auto [i, number] : enumerate(numbers)) {
      Shape indices = indicesOf(i, type.shape);
      for (unsigned dim : dims)
        indices[dim] = 0;
      int64_t to = elementAt(indices, kept.shape);
      sum[to] += number;
      max[to] = std::max(max[to], number);
    }
    SCOPED_TRACE("dims " + list(dims));
    std::string tail =
        formatv("dims[{0}] keepdim : {1}", list(dims), spelled(type));
    // Sums of eighths are exact in f32, in whatever order.
    expectNear(evaluate("mp.sum %a " + tail, {type}, {numbers}, kept), sum, 0);
    expectNear(evaluate("mp.max %a " + tail, {type}, {numbers}, kept), max, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Reductions,
                         testing::Values(Shape{3, 5, 2, 7}, Shape{1, 17, 1, 3},
                                         Shape{1, 1, 1, 1}, Shape{2, 1, 33}));

TEST(Transposes, ByEveryPermutation) {
  for (const Shape &shape : {Shape{3, 5, 17}, Shape{1, 7, 4}, Shape{1, 1, 1}}) {
    TensorType type{ElementType::F16, shape};
    Numbers numbers = numbersOf(type);
    std::vector<int64_t> order = {0, 1, 2};
    do {
      TensorType result = type;
      for (auto [i, dim] : enumerate(order))
        result.shape[i] = shape[dim];
      Numbers wanted(numbers.size());
      for (size_t i = 0; i < wanted.size(); ++i) {
        Shape to = indicesOf(i, result.shape), from(3);
        for (auto [j, dim] : enumerate(order))
          from[dim] = to[j];
        wanted[i] = numbers[elementAt(from, shape)];
      }
      SCOPED_TRACE(type.str() + " by " + list(order));
      expectNear(evaluate(formatv("mp.transpose %a [{0}] : {1}", list(order),
                                  spelled(type))
                              .str(),
                          {type}, {numbers}, result),
                 wanted, 0);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(Softmax, AlongEachDimension) {
  for (const Shape &shape : {Shape{3, 5, 17}, Shape{1, 2, 1}, Shape{33}})
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      TensorType type{ElementType::F64, shape};
      Numbers numbers = numbersOf(type), wanted(numbers.size());
      std::map<int64_t, double> sums;
      auto lineOf = [&](size_t i) {
        Shape indices = indicesOf(i, shape);
        indices[dim] = 0;
        return elementAt(indices, shape);
      };
      for (auto [i, number] : enumerate(numbers))
        sums[lineOf(i)] += std::exp(number);
      for (auto [i, number] : enumerate(numbers))
        wanted[i] = std::exp(number) / sums[lineOf(i)];
      SCOPED_TRACE(type.str() + " along " + std::to_string(dim));
      expectNear(
          evaluate(
              formatv("mp.softmax %a dim({0}) : {1}", dim, spelled(type)).str(),
              {type}, {numbers}, type),
          wanted, 1e-14);
    }
}

struct LossCase {
  ElementType element;
  int64_t rows, classes;
  double smoothing;
  int64_t ignored; ///< number of such rows at the front
  bool mean;
};

/// torch.nn.functional.cross_entropy, by its definition.
double crossEntropy(const LossCase &loss, const Numbers &logits,
                    const Numbers &labels) {
  double total = 0;
  for (int64_t row = loss.ignored; row < loss.rows; ++row) {
    auto line = ArrayRef(logits).slice(row * loss.classes, loss.classes);
    double sum = 0;
    for (double logit : line)
      sum += std::exp(logit);
    double all = 0;
    for (double logit : line)
      all += std::log(sum) - logit;
    double own = std::log(sum) - line[size_t(labels[row])];
    total += (1 - loss.smoothing) * own + loss.smoothing * all / loss.classes;
  }
  return loss.mean ? total / (loss.rows - loss.ignored) : total;
}

TEST(CrossEntropy, OfAnyRowsAndClasses) {
  const std::pair<ElementType, double> precisions[] = {
      {ElementType::F64, 1e-13},
      {ElementType::F32, 1e-5},
      {ElementType::F16, 2e-3},
      {ElementType::BF16, 1e-2}};
  const LossCase cases[] = {{{}, 1, 1, 0, 0, true},  {{}, 1, 7, 0.1, 0, true},
                            {{}, 5, 1, 0, 2, true},  {{}, 33, 10, 0.1, 3, true},
                            {{}, 7, 3, 0, 7, true},  {{}, 7, 3, 0, 0, false},
                            {{}, 1, 2, 1, 1, false}, {{}, 127, 13, 0, 1, true}};
  for (auto [element, tolerance] : precisions)
    for (LossCase loss : cases) {
      loss.element = element;
      TensorType logits{element, {loss.rows, loss.classes}};
      TensorType labels{ElementType::I64, {loss.rows}};
      Numbers scores = numbersOf(logits), classes(loss.rows);
      for (int64_t row = 0; row < loss.rows; ++row)
        classes[row] = row < loss.ignored ? -100 : (row * 5) % loss.classes;
      std::string op = formatv(
          "mp.cross_entropy %a, %b reduction({0}) {{label_smoothing = {1:f6} : "
          "f64} : {2}, {3}",
          loss.mean ? "mean" : "sum", loss.smoothing, spelled(logits),
          spelled(labels));
      SCOPED_TRACE(op + ", " + std::to_string(loss.ignored) + " ignored");
      expectNear(
          evaluate(op, {logits, labels}, {scores, classes}, {element, {}}),
          {crossEntropy(loss, scores, classes)}, tolerance);
    }
}

} // namespace
