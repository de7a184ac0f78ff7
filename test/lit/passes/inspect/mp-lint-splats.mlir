// RUN: mp-opt %s -mp-lint=dtype=f16 -o /dev/null 2>&1 | FileCheck %s

// A constant with equal elements is checked once.
// CHECK: constant {{.*}} becomes infinite in f16
func.func @many(%x: tensor<281474976710656xf32>) -> (tensor<281474976710656xf32>, tensor<281474976710656xf16>) {
  %one = mp.constant dense<1.0> : tensor<281474976710656xf32>
  %sum = mp.add %x, %one : tensor<281474976710656xf32>, tensor<281474976710656xf32>
  %large = mp.constant dense<1.0e6> : tensor<281474976710656xf32>
  %cast = mp.cast %large : tensor<281474976710656xf32> to tensor<281474976710656xf16>
  return %sum, %cast : tensor<281474976710656xf32>, tensor<281474976710656xf16>
}
