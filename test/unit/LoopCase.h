//===- LoopCase.h - a recurrent loop with two products ----------*- C++ -*-===//
#ifndef MP_TEST_UNIT_LOOPCASE_H
#define MP_TEST_UNIT_LOOPCASE_H

#include "llvm/Support/FormatVariadic.h"
#include <string>

namespace mp::test {

/// Carries [m, k] over some time steps, by products with [n, k] and [n, k].
struct LoopSizes {
  int64_t m, k, n;
};

inline std::string loopText(const LoopSizes &sizes, llvm::StringRef type) {
  std::string state = llvm::formatv("{0}x{1}x", sizes.m, sizes.k),
              wide = llvm::formatv("{0}x{1}x", sizes.m, sizes.n),
              weights = llvm::formatv("{0}x{1}x", sizes.n, sizes.k);
  return llvm::formatv(R"(
func.func @f(%xs32: tensor<{4}x{0}f32>, %h32: tensor<{0}f32>, %w32: tensor<{2}f32>, %b32: tensor<{5}xf32>)
    -> (tensor<{0}f32>, tensor<{4}x{0}f32>) {{
  %xs = mp.cast %xs32 : tensor<{4}x{0}f32> to tensor<{4}x{0}{3}>
  %h0 = mp.cast %h32 : tensor<{0}f32> to tensor<{0}{3}>
  %w = mp.cast %w32 : tensor<{2}f32> to tensor<{2}{3}>
  %b = mp.cast %b32 : tensor<{5}xf32> to tensor<{5}x{3}>
  %r:2 = mp.scan carried(%h = %h0 : tensor<{0}{3}>) over(%x = %xs : tensor<{4}x{0}{3}>)
      -> (tensor<{0}{3}>, tensor<{4}x{0}{3}>) {{
    %p = mp.linear %h, %w, %b : tensor<{0}{3}>, tensor<{2}{3}>, tensor<{5}x{3}>
    %t = mp.tanh %p : tensor<{1}{3}>
    %q = mp.matmul %t, %w : tensor<{1}{3}>, tensor<{2}{3}>
    %s = mp.add %q, %x : tensor<{0}{3}>, tensor<{0}{3}>
    %u = mp.tanh %s : tensor<{0}{3}>
    mp.yield %u, %u : tensor<{0}{3}>, tensor<{0}{3}>
  }
  %h = mp.cast %r#0 : tensor<{0}{3}> to tensor<{0}f32>
  %hs = mp.cast %r#1 : tensor<{4}x{0}{3}> to tensor<{4}x{0}f32>
  return %h, %hs : tensor<{0}f32>, tensor<{4}x{0}f32>
})",
                       state, wide, weights, type, 5, sizes.n);
}

} // namespace mp::test

#endif // MP_TEST_UNIT_LOOPCASE_H
