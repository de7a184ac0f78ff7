// RUN: mp-opt %s -mp-autocast='dtype=bf16' | FileCheck %s
// RUN: mp-opt %s -mp-autocast='dtype=bf16 mode=propagate' | FileCheck %s --check-prefixes=CHECK,COLOUR

// The derivative is by a value, and all results computed from it still are: a cast made by
// autocast is of the value, not of the one that it was widened from.

// CHECK-LABEL: @widened
// CHECK: %[[WIDE:.*]] = mp.cast %{{.*}} : tensor<4x4xbf16> to tensor<4x4xf32>
// CHECK-NEXT: %[[LOW:.*]] = mp.cast %[[WIDE]] : tensor<4x4xf32> to tensor<4x4xbf16>
// CHECK: mp.matmul %[[LOW]], %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>
// CHECK: mp.sum %[[WIDE]]
// CHECK: mp.gradient %{{.*}} of %[[WIDE]] : tensor<f32>, tensor<4x4xf32>
func.func @widened(%x: tensor<4x4xbf16>, %w: tensor<4x4xf32>) -> (tensor<f32>, tensor<4x4xf32>) {
  %v = mp.cast %x : tensor<4x4xbf16> to tensor<4x4xf32>
  %m = mp.matmul %v, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %s = mp.sum %m dims[0, 1] : tensor<4x4xf32>
  %t = mp.sum %v dims[0, 1] : tensor<4x4xf32>
  %l = mp.add %s, %t : tensor<f32>, tensor<f32>
  %g = mp.gradient %l of %v : tensor<f32>, tensor<4x4xf32>
  return %l, %g : tensor<f32>, tensor<4x4xf32>
}

// If the value itself is low now, the derivative is by the low value, which some read unchanged
// and others widened.
// CHECK-LABEL: @low
// CHECK: %[[M:.*]] = mp.matmul
// CHECK: mp.matmul %[[M]]
// COLOUR: mp.exp %{{.*}} : tensor<4x4xf32>
// CHECK: %[[G:.*]] = mp.gradient %{{.*}} of %[[M]] : tensor<f32>, tensor<4x4xbf16>
// COLOUR: %[[WIDE:.*]] = mp.cast %[[G]] : tensor<4x4xbf16> to tensor<4x4xf32>
// COLOUR: mp.exp %[[WIDE]]
func.func @low(%x: tensor<4x4xf32>) -> (tensor<f32>, tensor<4x4xf32>) {
  %m = mp.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %n = mp.matmul %m, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %e = mp.exp %m : tensor<4x4xf32>
  %s = mp.sum %n dims[0, 1] : tensor<4x4xf32>
  %t = mp.sum %e dims[0, 1] : tensor<4x4xf32>
  %l = mp.add %s, %t : tensor<f32>, tensor<f32>
  %g = mp.gradient %l of %m : tensor<f32>, tensor<4x4xf32>
  %h = mp.exp %g : tensor<4x4xf32>
  return %l, %h : tensor<f32>, tensor<4x4xf32>
}
