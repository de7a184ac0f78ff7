// RUN: mp-opt %s -mp-lint=dtype=f16 -o /dev/null 2>&1 | FileCheck %s

// A constant with equal elements is checked once.
// CHECK: constant {{.*}} becomes infinite in f16
func.func @many(%x: tensor<9223372036854775807xf32>) -> (tensor<9223372036854775807xf32>, tensor<9223372036854775807xf16>) {
  %one = mp.constant dense<1.0> : tensor<9223372036854775807xf32>
  %sum = mp.add %x, %one : tensor<9223372036854775807xf32>, tensor<9223372036854775807xf32>
  %large = mp.constant dense<1.0e6> : tensor<9223372036854775807xf32>
  %cast = mp.cast %large : tensor<9223372036854775807xf32> to tensor<9223372036854775807xf16>
  return %sum, %cast : tensor<9223372036854775807xf32>, tensor<9223372036854775807xf16>
}
