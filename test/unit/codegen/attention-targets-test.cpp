//===- attention-targets-test.cpp - attention on both targets ---------------===//
//
// Results and gradients against attention as its definition has it, in f64 and
// one query at a time: sizes on both sides of those of tiles, all masks, and
// types.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "OnBothTargets.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mp;
using namespace llvm;

namespace {

enum class Mask { None, Flags, Numbers };
struct Case {
  int64_t batch, tokens, heads, depth, keys, groups, width;
  bool causal = false;
  int64_t window = 0, offset = 0; ///< no window if 0
  Mask mask = Mask::None;
  bool hasLengths = false, hasSlopes = false;

  int64_t queryAt(int64_t b, int64_t t, int64_t h) const {
    return ((b * tokens + t) * heads + h) * depth;
  }
  int64_t resultAt(int64_t b, int64_t t, int64_t h) const {
    return ((b * tokens + t) * heads + h) * width;
  }
  int64_t keyAt(int64_t b, int64_t t, int64_t g) const {
    return ((b * keys + t) * groups + g) * depth;
  }
  int64_t valueAt(int64_t b, int64_t t, int64_t g) const {
    return ((b * keys + t) * groups + g) * width;
  }
};

/// The text of a function of gradient and operands to the result, the numbers
/// per query and the gradients.
std::string moduleOf(const Case &c, StringRef type, StringRef numbers) {
  auto heads = [&](int64_t tokens, int64_t heads, int64_t depth) {
    return std::string(formatv("tensor<{0}x{1}x{2}x{3}x{4}>", c.batch, tokens,
                               heads, depth, type));
  };
  std::string query = heads(c.tokens, c.heads, c.depth),
              key = heads(c.keys, c.groups, c.depth),
              value = heads(c.keys, c.groups, c.width),
              result = heads(c.tokens, c.heads, c.width);
  std::string sums =
      formatv("tensor<{0}x{1}x{2}x{3}>", c.batch, c.tokens, c.heads, numbers);
  std::string arguments, changes;
  auto add = [&](StringRef name, const std::string &operand) {
    arguments += formatv(", %{0}: {1}", name, operand);
    changes += formatv(" {0}(%{0} : {1})", name, operand);
  };
  if (c.mask == Mask::Flags)
    add("mask", formatv("tensor<{0}x1x{1}x{2}xi1>", c.batch, c.tokens, c.keys));
  if (c.mask == Mask::Numbers)
    add("mask", formatv("tensor<{0}x1x{1}x{2}>", c.heads, c.keys, type));
  if (c.hasLengths)
    add("lengths", formatv("tensor<{0}xi32>", c.batch));
  if (c.hasSlopes)
    add("slopes", formatv("tensor<{0}x{1}>", c.heads, numbers));
  if (c.causal)
    changes += " causal";
  if (c.window)
    changes += formatv(" window({0})", c.window);
  if (c.offset)
    changes += formatv(" query_offset({0})", c.offset);
  return formatv(
      R"(func.func @f(%g: {0}, %q: {1}, %k: {2}, %v: {3}{4}) -> ({0}, {5}, {1}, {2}, {3}) {{
  %y, %s = mp.scaled_dot_product_attention %q, %k, %v{6} : {1}, {2}, {3}
  %gw = mp.cast %g : {0} to tensor<{7}x{8}>
  %yw = mp.cast %y : {0} to tensor<{7}x{8}>
  %p = mp.mul %gw, %yw : tensor<{7}x{8}>, tensor<{7}x{8}>
  %d = mp.sum %p dims[3] : tensor<{7}x{8}>
  %x:3 = mp.scaled_dot_product_attention_backward %g, %q, %k, %v, %s, %d{6}
    : {0}, {1}, {2}, {3}, {5}, {5}
  return %y, %s, %x#0, %x#1, %x#2 : {0}, {5}, {1}, {2}, {3}
}
)",
      result, query, key, value, arguments, sums, changes,
      formatv("{0}x{1}x{2}x{3}", c.batch, c.tokens, c.heads, c.width).str(),
      numbers);
}

/// Operands of a case: numbers that every type holds exactly.
struct Operands {
  explicit Operands(const Case &c) : c(c) {
    int64_t queries = c.batch * c.tokens * c.heads,
            pairs = c.batch * c.keys * c.groups;
    gradient = numbers(queries * c.width, 13);
    query = numbers(queries * c.depth, 37);
    key = numbers(pairs * c.depth, 29);
    value = numbers(pairs * c.width, 23);
    if (c.mask == Mask::Flags)
      for (int64_t i = 0; i < c.batch * c.tokens * c.keys; ++i)
        mask.push_back(i * 7 % 11 < 6 || i / c.keys % 5 == 0);
    if (c.mask == Mask::Numbers)
      mask = numbers(c.heads * c.keys, 19);
    // All keys, fewer, and none.
    for (int64_t b = 0; c.hasLengths && b < c.batch; ++b)
      lengths.push_back(b % 3 == 0   ? c.keys
                        : b % 3 == 1 ? (c.keys + 1) / 2
                                     : 0);
    for (int64_t h = 0; c.hasSlopes && h < c.heads; ++h)
      slopes.push_back(std::ldexp(1, -int(h) - 1));
  }

  std::vector<Numbers> all() const {
    std::vector<Numbers> all{gradient, query, key, value};
    for (const Numbers &more : {mask, lengths, slopes})
      if (!more.empty())
        all.push_back(more);
    return all;
  }
  /// Whether a query looks at a key, and what is added to their product.
  bool looksAt(int64_t b, int64_t i, int64_t j) const {
    int64_t ahead = j - i - c.offset;
    if ((c.causal && ahead > 0) || (c.hasLengths && j >= lengths[b]))
      return false;
    if (c.window && (-ahead >= c.window || ahead >= c.window))
      return false;
    return c.mask != Mask::Flags || mask[(b * c.tokens + i) * c.keys + j];
  }
  double added(int64_t h, int64_t i, int64_t j) const {
    double sum = c.mask == Mask::Numbers ? mask[h * c.keys + j] : 0;
    return c.hasSlopes ? sum - slopes[h] * std::abs(i + c.offset - j) : sum;
  }

  static Numbers numbers(int64_t count, int64_t step) {
    Numbers numbers(count);
    for (int64_t i = 0; i < count; ++i)
      numbers[i] = ((i * step + i / 97 * 5) % 33 - 16) / 16.0;
    return numbers;
  }

  Case c;
  Numbers gradient, query, key, value, mask, lengths, slopes;
};

double dot(const double *x, const double *y, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += x[i] * y[i];
  return sum;
}

/// What the definition gives: the result, the numbers per query, gradients.
std::vector<Numbers> expected(const Operands &from) {
  const Case &c = from.c;
  std::vector<Numbers> all(5);
  all[0].resize(from.gradient.size());
  all[1].resize(c.batch * c.tokens * c.heads);
  all[2].resize(from.query.size());
  all[3].resize(from.key.size());
  all[4].resize(from.value.size());
  double scale = 1 / std::sqrt(double(c.depth));
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t i = 0; i < c.tokens; ++i)
      for (int64_t h = 0; h < c.heads; ++h) {
        int64_t group = h / (c.heads / c.groups);
        const double *q = &from.query[c.queryAt(b, i, h)],
                     *g = &from.gradient[c.resultAt(b, i, h)];
        std::vector<std::pair<int64_t, double>> weights;
        double largest = -INFINITY, total = 0, mean = 0;
        for (int64_t j = 0; j < c.keys; ++j)
          if (from.looksAt(b, i, j)) {
            const double *k = &from.key[c.keyAt(b, j, group)];
            weights.emplace_back(j, dot(q, k, c.depth) * scale +
                                        from.added(h, i, j));
            largest = std::max(largest, weights.back().second);
          }
        for (auto &[j, weight] : weights)
          total += weight = std::exp(weight - largest);
        if (weights.empty())
          continue;
        all[1][(b * c.tokens + i) * c.heads + h] = largest + std::log(total);
        for (auto &[j, weight] : weights) {
          weight /= total;
          const double *v = &from.value[c.valueAt(b, j, group)];
          for (int64_t e = 0; e < c.width; ++e) {
            all[0][c.resultAt(b, i, h) + e] += weight * v[e];
            all[4][c.valueAt(b, j, group) + e] += weight * g[e];
          }
          mean += weight * dot(g, v, c.width);
        }
        for (auto &[j, weight] : weights) {
          const double *v = &from.value[c.valueAt(b, j, group)];
          double change = weight * (dot(g, v, c.width) - mean) * scale;
          for (int64_t d = 0; d < c.depth; ++d) {
            all[2][c.queryAt(b, i, h) + d] +=
                change * from.key[c.keyAt(b, j, group) + d];
            all[3][c.keyAt(b, j, group) + d] += change * q[d];
          }
        }
      }
  return all;
}

/// The largest difference, relative to the largest element.
double difference(const Numbers &x, const Numbers &y) {
  double most = 0, largest = 1e-30;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i] - y[i]) <= most))
      most = std::abs(x[i] - y[i]);
    largest = std::max(largest, std::abs(y[i]));
  }
  return most / largest;
}

/// Weights and changes of scores are rounded to 16 bits on CUDA, and the
/// result before it is used for the gradients.
double tolerance(StringRef type) {
  return StringSwitch<double>(type)
      .Case("f64", 1e-13)
      .Case("f32", 2e-6)
      .Case("f16", 2e-3)
      .Default(1.6e-2);
}

MP_ON_BOTH_TARGETS(Attention);

void check(const Case &c, StringRef type, Device device) {
  Operands operands(c);
  std::string module = moduleOf(c, type, type == "f64" ? "f64" : "f32");
  auto function = GoldenFunction::compile(module, "f", device);
  ASSERT_TRUE(bool(function)) << toString(function.takeError()) << module;
  auto results = (*function)(operands.all());
  ASSERT_TRUE(bool(results)) << toString(results.takeError()) << module;
  std::vector<Numbers> wanted = expected(operands);
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ((*results)[i].size(), wanted[i].size());
    EXPECT_LE(difference((*results)[i], wanted[i]), tolerance(type))
        << "result " << i << " of\n"
        << module;
  }
}

// Each type meets every number of tokens, and every depth.
TEST_P(Attention, OfManySizes) {
  constexpr int64_t depths[] = {5, 16, 64, 17};
  int turn = 0;
  for (StringRef type : {"f64", "f32", "f16", "bf16"}) {
    for (int64_t tokens : {1, 48, 65, 130}) {
      int64_t depth = depths[turn++ % 4];
      check({1, tokens, 2, depth, tokens, 2, depth}, type, GetParam());
    }
    ++turn;
  }
}

TEST_P(Attention, OfKeysThatAreNotTheQueries) {
  for (StringRef type : {"f32", "bf16"}) {
    check({2, 3, 4, 8, 70, 2, 24}, type, GetParam());
    check({1, 97, 2, 80, 3, 1, 16}, type, GetParam());
    check({1, 40, 2, 20, 200, 1, 130}, type, GetParam());
  }
}

TEST_P(Attention, OfPartsOfTheKeys) {
  int turn = 0;
  for (int64_t offset : {0, -3, 40})
    for (int64_t window : {0, 1, 20})
      for (bool causal : {false, true})
        check({.batch = 1,
               .tokens = 100,
               .heads = 2,
               .depth = 16,
               .keys = 90,
               .groups = 1,
               .width = 16,
               .causal = causal,
               .window = window,
               .offset = offset},
              turn++ / 3 % 2 ? "f32" : "f16", GetParam());
}

TEST_P(Attention, WithMasks) {
  for (StringRef type : {"f32", "bf16"})
    for (Mask mask : {Mask::None, Mask::Flags, Mask::Numbers})
      for (bool more : {false, true})
        check({.batch = 3,
               .tokens = 37,
               .heads = 2,
               .depth = 8,
               .keys = 70,
               .groups = 2,
               .width = 8,
               .causal = more,
               .window = 0,
               .offset = more ? 33 : 0,
               .mask = mask,
               .hasLengths = more,
               .hasSlopes = more},
              type, GetParam());
}

} // namespace
