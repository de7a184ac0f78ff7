//===- Attention.cpp - the attention that is measured ---------------------===//
#include "Runner.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mp;
using namespace mp::micro;

ArrayRef<Attention> micro::attentions() {
  static constexpr Attention all[] = {
      {"32x128", 8, 128, 8, 32, false},
      {"64x128", 8, 128, 8, 64, false},
      {"128x128", 8, 128, 8, 128, false},
      {"64x128-causal", 8, 128, 8, 64, true},
      {"32x1024", 1, 1024, 8, 32, false},
      {"64x1024", 1, 1024, 8, 64, false},
      {"128x1024", 1, 1024, 8, 128, false},
      {"64x1024-causal", 1, 1024, 8, 64, true},
      {"32x4096", 1, 4096, 1, 32, false},
      {"64x4096", 1, 4096, 1, 64, false},
      {"128x4096", 1, 4096, 1, 128, false},
      {"64x4096-causal", 1, 4096, 1, 64, true},
  };
  return all;
}

std::string micro::textOf(const Attention &a, bool isBackward, StringRef type) {
  std::string heads = formatv("tensor<{0}x{1}x{2}x{3}x{4}>", a.batch, a.tokens,
                              a.heads, a.depth, type),
              numbers = formatv("tensor<{0}x{1}x{2}xf32>", a.batch, a.tokens,
                                a.heads);
  StringRef causal = a.isCausal ? " causal" : "";
  if (!isBackward)
    return formatv("func.func @f(%q: {0}, %k: {0}, %v: {0}) -> ({0}, {1}) {{\n"
                   "  %y, %s = mp.scaled_dot_product_attention %q, %k, %v{2} : "
                   "{0}, {0}, {0}\n"
                   "  return %y, %s : {0}, {1}\n}\n",
                   heads, numbers, causal);
  return formatv(
      "func.func @f(%g: {0}, %q: {0}, %k: {0}, %v: {0}, %s: {1}, %d: {1}) -> "
      "({0}, {0}, {0}) {{\n"
      "  %x:3 = mp.scaled_dot_product_attention_backward %g, %q, %k, %v, %s, "
      "%d{2} : {0}, {0}, {0}, {0}, {1}, {1}\n"
      "  return %x#0, %x#1, %x#2 : {0}, {0}, {0}\n}\n",
      heads, numbers, causal);
}
