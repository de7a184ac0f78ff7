//===- AttentionCase.cpp - attention against a loop -----------------------===//
#include "AttentionCase.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <numeric>
#include <random>

using namespace llvm;

namespace mp::test {

bool AttentionCase::looks(int64_t entry, int64_t token, int64_t key) const {
  int64_t ahead = key - (token + offset);
  if (!lengths.empty() && key >= lengths[entry])
    return false;
  if (causal && ahead > 0)
    return false;
  return !window || std::abs(ahead) < *window;
}

int64_t AttentionCase::maskElementOf(int64_t entry, int64_t head, int64_t token,
                                     int64_t key) const {
  const std::array<int64_t, 4> place = {entry, head, token, key};
  int64_t at = 0;
  for (auto [size, index] : zip_equal(mask, place))
    at = at * size + (size == 1 ? 0 : index);
  return at;
}

//===----------------------------------------------------------------------===//
// Text and operands
//===----------------------------------------------------------------------===//

std::string AttentionCase::type(ArrayRef<int64_t> shape, StringRef of) const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + of.str() + ">";
}

std::string AttentionCase::attributes() const {
  std::string text;
  if (!mask.empty())
    text += " mask(%m : " + type(mask, maskElement) + ")";
  if (!lengths.empty())
    text += " lengths(%l : " + type(batch, "i32") + ")";
  if (!slopes.empty())
    text += " slopes(%s : " + type(heads, "f32") + ")";
  if (dropout)
    text += formatv(" dropout(%key, {0})", dropout);
  if (causal)
    text += " causal";
  if (window)
    text += formatv(" window({0})", *window);
  return text + formatv(" query_offset({0})", offset).str();
}

/// Seed, attempt and micro-batch of a dropout, and how ops name them.
static constexpr StringLiteral kKeyArguments =
    ", %seed: tensor<i64>, %attempt: tensor<i64>, %micro: tensor<i64>";
static constexpr StringLiteral kDraw =
    " stream(5) key(%seed, %attempt, %micro)";

std::string AttentionCase::text() const {
  std::string query = type({batch, tokens, heads, depth}, element),
              key = type({batch, keys, groups, depth}, element),
              value = type({batch, keys, groups, width}, element),
              result = type({batch, tokens, heads, width}, element),
              sums = type({batch, tokens, heads},
                          element == "f64" ? "f64" : "f32");
  std::string arguments =
      formatv("%q: {0}, %k: {1}, %v: {2}, %g: {3}", query, key, value, result);
  if (!mask.empty())
    arguments += ", %m: " + type(mask, maskElement);
  if (!lengths.empty())
    arguments += ", %l: " + type(batch, "i32");
  if (!slopes.empty())
    arguments += ", %s: " + type(heads, "f32");
  std::string draw;
  if (dropout) {
    arguments += kKeyArguments.str();
    draw = "  %key = mp.random_key" + kDraw.str() + "\n";
  }
  std::string results =
      formatv("{0}, {1}, {2}, {3}, {4}", result, sums, query, key, value);
  return formatv(
      "func.func @f({0}) -> ({1}) {{\n{8}"
      "  %y, %e = mp.scaled_dot_product_attention %q, %k, %v{2} : {3}, {4}, "
      "{5}\n"
      "  %p = mp.mul %y, %g : {6}, {6}\n"
      "  %t = mp.sum %p dims[0, 1, 2, 3] : {6}\n"
      "  %dq, %dk, %dv = mp.gradient %t of %q, %k, %v : tensor<{7}>, {3}, {4}, "
      "{5}\n"
      "  return %y, %e, %dq, %dk, %dv : {1}\n}\n",
      arguments, results, attributes(), query, key, value, result, element,
      draw);
}

std::vector<Numbers> AttentionCase::inputs(unsigned seed) const {
  std::mt19937 random(seed);
  // Exact in any type of at least eight bits of mantissa.
  auto draw = [&](int64_t count) {
    Numbers numbers(count);
    for (double &number : numbers)
      number = (int64_t(random() % 255) - 127) / 64.0;
    return numbers;
  };
  int64_t queries = batch * tokens * heads, all = batch * keys * groups;
  std::vector<Numbers> drawn{draw(queries * depth), draw(all * depth),
                             draw(all * width), draw(queries * width)};
  if (!mask.empty()) {
    Numbers numbers = draw(std::accumulate(mask.begin(), mask.end(), int64_t(1),
                                           std::multiplies<>()));
    if (maskElement == "i1")
      for (double &number : numbers)
        number = number > -1;
    drawn.push_back(std::move(numbers));
  }
  if (!lengths.empty())
    drawn.push_back(lengths);
  if (!slopes.empty())
    drawn.push_back(slopes);
  if (dropout)
    for (double part : {12345678901., 7., 2.})
      drawn.push_back({part});
  return drawn;
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

namespace {
double dot(const double *x, const double *y, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += x[i] * y[i];
  return sum;
}
void addScaled(double *to, double factor, const double *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] += factor * x[i];
}
} // namespace

Numbers AttentionCase::kept(ArrayRef<Numbers> key) const {
  std::string weights = type({batch, heads, tokens, keys}, "f64");
  std::string text =
      formatv("func.func @f({0}) -> {1} {{\n"
              "  %one = mp.constant dense<1.0> : {1}\n"
              "  %d = mp.dropout %one{2} {{p = {3:f6}} : {1}\n"
              "  return %d : {1}\n}\n",
              kKeyArguments.drop_front(2), weights, kDraw, dropout);
  auto drop = cantFail(GoldenFunction::compile(text, "f"));
  return cantFail(drop(key)).front();
}

std::vector<Numbers> AttentionCase::reference(ArrayRef<Numbers> inputs) const {
  Numbers factors;
  if (dropout)
    factors = kept(inputs.take_back(3));
  const double *q = inputs[0].data(), *k = inputs[1].data(),
               *v = inputs[2].data(), *g = inputs[3].data();
  Numbers result(inputs[3].size()), sums(batch * tokens * heads),
      dq(inputs[0].size()), dk(inputs[1].size()), dv(inputs[2].size());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (int64_t query = 0; query < batch * tokens * heads; ++query) {
    int64_t head = query % heads, token = query / heads % tokens,
            entry = query / heads / tokens;
    auto keyRow = [&](int64_t key) {
      return (entry * keys + key) * groups + head / (heads / groups);
    };
    Numbers weights(keys, -infinity);
    double most = -infinity, total = 0;
    for (int64_t key = 0; key < keys; ++key) {
      if (!looks(entry, token, key))
        continue;
      double score =
          scale() * dot(q + query * depth, k + keyRow(key) * depth, depth);
      if (!slopes.empty())
        score -= slopes[head] * std::abs(token + offset - key);
      if (!mask.empty()) {
        double number = inputs[4][maskElementOf(entry, head, token, key)];
        score = maskElement != "i1" ? score + number
                : number            ? score
                                    : -infinity;
      }
      weights[key] = score;
      most = std::max(most, score);
    }
    if (most == -infinity)
      continue;
    for (double &weight : weights)
      total += weight = std::exp(weight - most);
    sums[query] = most + std::log(total);
    auto factorOf = [&](int64_t key) {
      int64_t row = (entry * heads + head) * tokens + token;
      return dropout ? factors[row * keys + key] : 1;
    };
    for (int64_t key = 0; key < keys; ++key) {
      weights[key] /= total;
      addScaled(&result[query * width], weights[key] * factorOf(key),
                v + keyRow(key) * width, width);
    }
    double delta = dot(&result[query * width], g + query * width, width);
    for (int64_t key = 0; key < keys; ++key) {
      if (weights[key] == 0)
        continue;
      int64_t row = keyRow(key);
      double factor = factorOf(key);
      addScaled(&dv[row * width], weights[key] * factor, g + query * width,
                width);
      double product = dot(g + query * width, v + row * width, width);
      double change = scale() * weights[key] * (factor * product - delta);
      addScaled(&dq[query * depth], change, k + row * depth, depth);
      addScaled(&dk[row * depth], change, q + query * depth, depth);
    }
  }
  return {result, sums, dq, dk, dv};
}

} // namespace mp::test
