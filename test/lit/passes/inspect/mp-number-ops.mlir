// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-number-ops))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-number-ops,mp-number-ops))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-number-ops),mp-autocast{dtype=f16})' | FileCheck %s --check-prefix=CAST
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-number-ops{only=f16}))' | FileCheck %s --check-prefix=HALF --implicit-check-not=mp.number

mp.variable @w : tensor<4xf32> = #mp.init<ones>

// Numbers start from one in every function; an op without results has no number.
// CHECK-LABEL: @f
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: mp.read @w {mp.number = 1 : i64}
  %w = mp.read @w : tensor<4xf32>
  // CHECK: mp.mul {{.*}} {mp.number = 2 : i64}
  %y = mp.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  // CHECK: mp.write @w, %{{[a-z0-9]+}} : tensor
  mp.write @w, %y : tensor<4xf32>
  return %y : tensor<4xf32>
}

// The casts of autocast come after numbering.
// CHECK-LABEL: @g
// CAST-LABEL: @g
func.func @g(%x: tensor<4x4xf32>) -> tensor<4x4xf16> {
  // CHECK: mp.matmul {{.*}} {mp.number = 1 : i64}
  // CAST: mp.cast %{{[a-z0-9]+}} : tensor<4x4xf32> to tensor<4x4xf16>
  // CAST: mp.matmul {{.*}} {mp.number = 1 : i64}
  %y = mp.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK: mp.cast {{.*}} {mp.number = 2 : i64}
  // HALF: mp.cast {{.*}} {mp.number = 1 : i64} : tensor<4x4xf32> to tensor<4x4xf16>
  // CAST: mp.cast {{.*}} {mp.number = 2 : i64}
  %h = mp.cast %y : tensor<4x4xf32> to tensor<4x4xf16>
  return %h : tensor<4x4xf16>
}
