// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-expand-gradients))' | FileCheck %s
// RUN: mp-opt %s -mp-autodiff=function=penalty | FileCheck %s --check-prefix=TWICE
// RUN: mp-opt %s -mp-run-pipeline | FileCheck %s --check-prefix=KERNELS

// CHECK-LABEL: @square
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mp.mul %x, %x : tensor<4xf32>, tensor<4xf32>
  %l = mp.sum %y dims[0] : tensor<4xf32>
  // There is no mp.seed, which a loss scale would multiply.
  // CHECK: %[[ONE:.*]] = mp.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[B:.*]] = mp.broadcast %[[ONE]]
  // CHECK: %[[L:.*]] = mp.mul %[[B]], %[[X]]
  // CHECK: %[[R:.*]] = mp.mul %[[B]], %[[X]]
  // CHECK: %[[G:.*]] = mp.add %[[L]], %[[R]]
  // CHECK: return %[[G]]
  %g = mp.gradient %l of %x : tensor<f32>, tensor<4xf32>
  return %g : tensor<4xf32>
}

// A gradient of a gradient: x^3, 3 x^2, 6 x.
// CHECK-LABEL: @nested
// CHECK-NOT: mp.gradient
// CHECK: return
func.func @nested(%x: tensor<f32>) -> tensor<f32> {
  %y = mp.mul %x, %x : tensor<f32>, tensor<f32>
  %z = mp.mul %y, %x : tensor<f32>, tensor<f32>
  %g = mp.gradient %z of %x : tensor<f32>, tensor<f32>
  %h = mp.gradient %g of %x : tensor<f32>, tensor<f32>
  return %h : tensor<f32>
}

// The outer differentiation goes through the ops of the inner one.
// TWICE-LABEL: @penalty.gradient
// TWICE-NOT: mp.gradient
// TWICE: mp.seed
// TWICE: return
func.func @penalty(%x: tensor<4xf32>) -> tensor<f32> {
  %y = mp.mul %x, %x : tensor<4xf32>, tensor<4xf32>
  %l = mp.sum %y dims[0] : tensor<4xf32>
  %g = mp.gradient %l of %x : tensor<f32>, tensor<4xf32>
  %s = mp.mul %g, %g : tensor<4xf32>, tensor<4xf32>
  %p = mp.sum %s dims[0] : tensor<4xf32>
  return %p : tensor<f32>
}

// KERNELS-NOT: mp.gradient

// After differentiation mp.scale_gradient has no effect.
// CHECK-LABEL: @unscaled
// CHECK-SAME: (%[[U:.*]]: tensor<4xf16>)
// CHECK-NEXT: return %[[U]]
func.func @unscaled(%x: tensor<4xf16>) -> tensor<4xf16> {
  %y = mp.scale_gradient %x by 3 : tensor<4xf16>
  return %y : tensor<4xf16>
}
