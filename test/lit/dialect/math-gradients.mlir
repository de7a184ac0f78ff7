// RUN: mp-opt %s -mp-autodiff=function=constant | FileCheck %s --check-prefix=CONSTANT
// RUN: mp-opt %s -mp-autodiff=function=zero | FileCheck %s --check-prefix=ZERO
// RUN: mp-opt %s -mp-autodiff=function=once | FileCheck %s --check-prefix=ONCE
// RUN: mp-opt %s -mp-autodiff=function=penalty | FileCheck %s --check-prefix=PENALTY

// A constant exponent is seen through a cast, and needs no case for zero.
// CONSTANT-LABEL: @constant.gradient
// CONSTANT-NOT: mp.select
// CONSTANT: %[[TWO:.*]] = mp.constant dense<2.000000e+00> : tensor<f32>
// CONSTANT: %[[SQUARE:.*]] = mp.pow %{{.*}}, %[[TWO]] : tensor<4xf32>, tensor<f32>
// CONSTANT: %[[THREE:.*]] = mp.constant dense<3.000000e+00> : tensor<f32>
// CONSTANT: mp.mul %[[SQUARE]], %[[THREE]]
// CONSTANT-NOT: mp.select
// CONSTANT: return
func.func @constant(%x: tensor<4xf32>) -> tensor<f32> {
  %half = mp.constant dense<3.0> : tensor<f16>
  %c = mp.cast %half : tensor<f16> to tensor<f32>
  %0 = mp.pow %x, %c : tensor<4xf32>, tensor<f32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}

// x^0 is one, even at zero and NaN.
// ZERO-LABEL: @zero.gradient
// ZERO: %[[ZERO:.*]] = mp.constant dense<0.000000e+00> : tensor<4xf32>
// ZERO: return %[[ZERO]]
func.func @zero(%x: tensor<4xf32>) -> tensor<f32> {
  %c = mp.constant dense<0.0> : tensor<f32>
  %0 = mp.pow %x, %c : tensor<4xf32>, tensor<f32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}

// The rule of several ops computes in f32 and rounds once.
// ONCE-LABEL: @once.gradient
// ONCE: %[[WIDE:.*]] = mp.cast %arg0 : tensor<4xf16> to tensor<4xf32>
// ONCE: mp.cos %[[WIDE]] : tensor<4xf32>
// ONCE: %[[GRADIENT:.*]] = mp.mul %{{.*}} : tensor<4xf32>, tensor<4xf32>
// ONCE-NEXT: %[[ROUNDED:.*]] = mp.cast %[[GRADIENT]] : tensor<4xf32> to tensor<4xf16>
// ONCE-NEXT: return %[[ROUNDED]]
func.func @once(%x: tensor<4xf16>) -> tensor<f16> {
  %0 = mp.sin %x : tensor<4xf16>
  %1 = mp.sum %0 dims[0] : tensor<4xf16>
  return %1 : tensor<f16>
}

// The loss contains a gradient.
// PENALTY-LABEL: @penalty.gradient
// PENALTY: mp.tanh_backward
// PENALTY: mp.tanh_backward
// PENALTY: return
func.func @penalty(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<f32> {
  %0 = mp.tanh %x : tensor<4xf32>
  %1 = mp.tanh_backward %g, %0 : tensor<4xf32>, tensor<4xf32>
  %2 = mp.mul %1, %1 : tensor<4xf32>, tensor<4xf32>
  %3 = mp.sum %2 dims[0] : tensor<4xf32>
  return %3 : tensor<f32>
}
