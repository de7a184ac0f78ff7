//===- mix-samples-test.cpp - samples mixed with others -------------------===//
//
// The mixture is recovered from images that show whose pixels they have.
//
//===----------------------------------------------------------------------===//
#include "GraphRun.h"
#include "dsl/Augmentation.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <set>

using namespace mantissa;
using mp::Numbers, mp::test::run;

namespace {

/// The largest distance of the numbers' distribution from another one.
double distance(Numbers numbers, const std::function<double(double)> &below) {
  std::sort(numbers.begin(), numbers.end());
  double largest = 0, count = double(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    largest =
        std::max({largest, std::abs(below(numbers[i]) - double(i) / count),
                  std::abs(below(numbers[i]) - double(i + 1) / count)});
  return largest;
}

TEST(SymmetricBeta, IsBeta) {
  constexpr int64_t count = 20000;
  Graph net("m");
  const double alphas[] = {0.5, 1, 2, 0.2, 0.01};
  for (double alpha : alphas)
    net.output(std::to_string(alpha), symmetricBeta(net, alpha, {count}));
  auto results = run(net, {});
  // The distribution functions that have a closed form. A sample of this size
  // is 0.0115 away from its own in one case of a hundred.
  EXPECT_LT(
      distance(results[0],
               [](double x) { return 2 / M_PI * std::asin(std::sqrt(x)); }),
      0.0115);
  EXPECT_LT(distance(results[1], [](double x) { return x; }), 0.0115);
  EXPECT_LT(distance(results[2], [](double x) { return x * x * (3 - 2 * x); }),
            0.0115);
  for (auto [alpha, numbers] : llvm::zip_equal(alphas, results)) {
    double sum = 0, squares = 0;
    for (double x : numbers) {
      ASSERT_TRUE(x >= 0 && x <= 1) << x;
      sum += x;
      squares += (x - 0.5) * (x - 0.5);
    }
    EXPECT_NEAR(sum / count, 0.5, 0.015) << alpha;
    EXPECT_NEAR(squares / count, 1 / (4 * (2 * alpha + 1)), 0.005) << alpha;
  }
}

/// Images of f32 that are full of their number in the batch, and labels that
/// are this number; the mixed images, the others' labels, and the share.
struct MixedBatch {
  static constexpr int64_t count = 6, side = 12;
  Numbers images, others, loss;
  double share;

  MixedBatch(const Mix &mix, int draw) {
    Graph net("m");
    Tensor x = net.input("x", F32, {count, side, side, 1});
    Tensor label = net.input("label", U8, {count});
    Tensor logits = net.input("logits", F32, {count, count});
    // Streams number the random ops: another batch is another stream.
    for (int i = 0; i < draw; ++i)
      net.output("unused" + std::to_string(i), uniform(net, {F32, {}}));
    MixedSamples mixed = mixSamples(x, label, mix);
    net.output("images", mixed.images);
    net.output("others", mixed.others);
    net.output("share", mixed.share);
    net.output("loss", mixed.loss(logits));
    Numbers pixels, labels;
    for (int64_t n = 0; n < count; ++n) {
      labels.push_back(double(n));
      pixels.insert(pixels.end(), side * side, double(n));
    }
    Numbers scores(count * count);
    for (int64_t i = 0; i < count * count; ++i)
      scores[i] = double(i * 7 % 5);
    auto results = run(net, {pixels, labels, scores});
    images = results[draw];
    others = results[draw + 1];
    share = results[draw + 2][0];
    loss = results[draw + 3];
    expected =
        lossOf(scores, [](int64_t n) { return n; }) * share +
        lossOf(scores, [](int64_t n) { return count - 1 - n; }) * (1 - share);
  }

  double expected; ///< loss
  /// The pixel that is n's own share of `mixed`.
  double shareOf(int64_t n, int64_t pixel) const {
    double other = double(count - 1 - n);
    return (images[n * side * side + pixel] - other) / (double(n) - other);
  }

private:
  static double lossOf(const Numbers &scores, int64_t (*label)(int64_t)) {
    double sum = 0;
    for (int64_t n = 0; n < count; ++n) {
      double all = 0;
      for (int64_t c = 0; c < count; ++c)
        all += std::exp(scores[n * count + c]);
      sum += std::log(all) - scores[n * count + label(n)];
    }
    return sum / count;
  }
};

TEST(MixSamples, BlendsWithTheReversedBatch) {
  std::set<double> shares;
  for (int draw = 0; draw < 4; ++draw) {
    MixedBatch batch({.mixup = 0.4}, draw);
    shares.insert(batch.share);
    EXPECT_EQ(batch.others, (Numbers{5, 4, 3, 2, 1, 0}));
    EXPECT_NEAR(batch.loss[0], batch.expected, 1e-5);
    for (int64_t n = 0; n < batch.count; ++n)
      for (int64_t pixel = 0; pixel < batch.side * batch.side; ++pixel)
        ASSERT_NEAR(batch.shareOf(n, pixel), batch.share, 1e-5);
  }
  EXPECT_EQ(shares.size(), 4u);
}

TEST(MixSamples, CutsOneBoxOutOfTheReversedBatch) {
  std::set<double> shares;
  for (int draw = 0; draw < 8; ++draw) {
    MixedBatch batch({.cutmix = 1}, draw);
    shares.insert(batch.share);
    EXPECT_NEAR(batch.loss[0], batch.expected, 1e-5);
    int64_t own = 0, first[2] = {99, 99}, last[2] = {-1, -1};
    constexpr int64_t side = MixedBatch::side, all = side * side;
    for (int64_t pixel = 0; pixel < all; ++pixel) {
      double share = batch.shareOf(0, pixel);
      ASSERT_TRUE(share == 0 || share == 1) << share;
      own += share == 1;
      for (int64_t n = 1; n < batch.count; ++n)
        ASSERT_EQ(batch.shareOf(n, pixel), share);
      for (int dim : {0, 1})
        if (share == 0) {
          int64_t at = dim ? pixel % side : pixel / side;
          first[dim] = std::min(first[dim], at);
          last[dim] = std::max(last[dim], at);
        }
    }
    EXPECT_NEAR(batch.share, double(own) / all, 1e-6);
    if (own < all)
      EXPECT_EQ((last[0] - first[0] + 1) * (last[1] - first[1] + 1), all - own);
  }
  EXPECT_GE(shares.size(), 4u);
}

TEST(MixSamples, SwitchesBetweenBoth) {
  int cut = 0;
  constexpr int draws = 12;
  for (int draw = 0; draw < draws; ++draw) {
    MixedBatch batch({.mixup = 1, .cutmix = 1}, draw);
    std::set<double> shares;
    for (int64_t pixel = 0; pixel < batch.side * batch.side; ++pixel)
      shares.insert(std::round(batch.shareOf(0, pixel) * 1e4));
    cut += shares.count(0) > 0 && shares.size() <= 2;
    EXPECT_NEAR(batch.loss[0], batch.expected, 1e-5);
  }
  EXPECT_GE(cut, 2);
  EXPECT_LE(cut, draws - 2);
}

} // namespace
