//===- masks-test.cpp - masks that broadcast against rows -----------------===//
//
// Softmax of scaled scores under a mask that lacks some of the scores'
// dimensions, for every set of them: one kernel, and the numbers of a loop.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "OnBothTargets.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mp;
using namespace llvm;

namespace {

using Shape = std::vector<int64_t>;
const Shape kScores = {2, 3, 5, 20};
constexpr int64_t kElements = 2 * 3 * 5 * 20, kColumns = 20;

std::string spelled(const Shape &shape, StringRef element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element.str() + ">";
}

/// The shape of a mask that has the dimensions in `set`, and the others with
/// size one.
Shape maskShape(unsigned set) {
  Shape shape = kScores;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (!(set >> dim & 1))
      shape[dim] = 1;
  return shape;
}
/// The element of such a mask that belongs to one of the scores.
int64_t maskElement(int64_t element, const Shape &mask) {
  int64_t at = 0, stride = 1;
  for (size_t dim = kScores.size(); dim-- > 0; element /= kScores[dim])
    if (mask[dim] != 1) {
      at += element % kScores[dim] * stride;
      stride *= mask[dim];
    }
  return at;
}

Numbers numbersOf(int64_t count, int64_t step) {
  Numbers numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = i * step % 53 / 8.0 - 3;
  return numbers;
}

void expectSoftmax(const Numbers &got, const Numbers &scores) {
  ASSERT_EQ(got.size(), scores.size());
  for (int64_t row = 0; row < kElements; row += kColumns) {
    double total = 0;
    for (int64_t column = 0; column < kColumns; ++column)
      total += std::exp(scores[row + column]);
    for (int64_t column = 0; column < kColumns; ++column)
      ASSERT_NEAR(got[row + column], std::exp(scores[row + column]) / total,
                  1e-6)
          << "row " << row / kColumns << ", column " << column;
  }
}

MP_ON_BOTH_TARGETS(Masks);

/// Runs `body` on scores and a mask in one kernel.
Numbers runMasked(const std::string &body, const Shape &mask, StringRef element,
                  const Numbers &scores, const Numbers &masks, Device device) {
  std::string scoreType = spelled(kScores, "f32"),
              maskType = spelled(mask, element);
  std::string module = formatv("func.func @f(%x: {0}, %m: {1}) -> {0} {{\n",
                               scoreType, maskType);
  module += body + "  %r = mp.softmax %y dim(3) : " + scoreType +
            "\n  return %r : " + scoreType + "\n}\n";
  Expected<GoldenFunction> function =
      GoldenFunction::compile(module, "", device);
  if (!function) {
    ADD_FAILURE() << toString(function.takeError()) << "\n" << module;
    return {};
  }
  EXPECT_EQ(function->entry().steps.size(), 1u) << module;
  Expected<std::vector<Numbers>> results = (*function)({scores, masks});
  if (!results) {
    ADD_FAILURE() << toString(results.takeError()) << "\n" << module;
    return {};
  }
  return results->front();
}

TEST_P(Masks, AreAddedInOneKernel) {
  Numbers scores = numbersOf(kElements, 37);
  for (unsigned set = 1; set < 16; ++set) {
    Shape shape = maskShape(set);
    SCOPED_TRACE(spelled(shape, "f32"));
    Numbers masks = numbersOf(kElements, 11);
    masks.resize(maskElement(kElements - 1, shape) + 1);
    std::string types = spelled(kScores, "f32") + ", ";
    std::string body =
        "  %half = mp.constant dense<0.5> : tensor<f32>\n  %s = mp.mul %x, "
        "%half : " +
        types + "tensor<f32>\n  %y = mp.add %s, %m : " + types +
        spelled(shape, "f32") + "\n";
    Numbers wanted = scores;
    for (int64_t i = 0; i < kElements; ++i)
      wanted[i] = scores[i] / 2 + masks[maskElement(i, shape)];
    expectSoftmax(runMasked(body, shape, "f32", scores, masks, GetParam()),
                  wanted);
  }
}

// What is computed of the mask alone is computed in the same kernel.
TEST_P(Masks, OfFlagsChooseInOneKernel) {
  Numbers scores = numbersOf(kElements, 37);
  for (unsigned set = 1; set < 16; ++set) {
    Shape shape = maskShape(set);
    SCOPED_TRACE(spelled(shape, "i1"));
    Numbers flags(maskElement(kElements - 1, shape) + 1);
    for (size_t i = 0; i < flags.size(); ++i)
      flags[i] = i % 3 == 0;
    std::string flagType = spelled(shape, "i1");
    std::string body = "  %low = mp.constant dense<-1.0e4> : tensor<f32>\n  %n "
                       "= mp.not %m : " +
                       flagType +
                       "\n  %y = mp.select %n, %x, %low : " + flagType + ", " +
                       spelled(kScores, "f32") + ", tensor<f32>\n";
    Numbers wanted = scores;
    for (int64_t i = 0; i < kElements; ++i)
      if (flags[maskElement(i, shape)] != 0)
        wanted[i] = -1e4;
    // A row without a score is even.
    for (int64_t row = 0; row < kElements; row += kColumns)
      if (std::all_of(&wanted[row], &wanted[row] + kColumns,
                      [](double x) { return x == -1e4; }))
        std::fill_n(&wanted[row], kColumns, 0);
    expectSoftmax(runMasked(body, shape, "i1", scores, flags, GetParam()),
                  wanted);
  }
}

} // namespace
