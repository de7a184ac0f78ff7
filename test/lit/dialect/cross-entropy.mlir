// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @cross_entropy
func.func @cross_entropy(%x: tensor<?x10xf16>, %y: tensor<?xui8>) -> tensor<f16> {
  // CHECK: mp.cross_entropy %{{.*}}, %{{[^ ]*}} : tensor<?x10xf16>, tensor<?xui8>
  %0 = mp.cross_entropy %x, %y : tensor<?x10xf16>, tensor<?xui8>
  // CHECK: mp.cross_entropy %{{.*}} reduction(sum) {ignore_index = 3 : i64, label_smoothing = 1.000000e-01 : f64}
  %1 = mp.cross_entropy %x, %y reduction(sum) {label_smoothing = 1.0e-1, ignore_index = 3} : tensor<?x10xf16>, tensor<?xui8>
  return %1 : tensor<f16>
}

// CHECK-LABEL: @backward
func.func @backward(%g: tensor<f32>, %x: tensor<4x10xf32>, %y: tensor<4xi64>) -> tensor<4x10xf32> {
  // CHECK: mp.cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}} reduction(sum) : tensor<f32>, tensor<4x10xf32>, tensor<4xi64>
  %0 = mp.cross_entropy_backward %g, %x, %y reduction(sum) : tensor<f32>, tensor<4x10xf32>, tensor<4xi64>
  return %0 : tensor<4x10xf32>
}

// CHECK-LABEL: @weighted
// CHECK-SAME: -> (tensor<?xf32>, tensor<?x10xf32>)
func.func @weighted(%x: tensor<?x10xf32>, %y: tensor<?xi32>, %w: tensor<10xf32>) -> (tensor<?xf32>, tensor<?x10xf32>) {
  // CHECK: mp.cross_entropy %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<10xf32>) reduction(none) : tensor<?x10xf32>, tensor<?xi32>
  %0 = mp.cross_entropy %x, %y weight(%w : tensor<10xf32>) reduction(none) : tensor<?x10xf32>, tensor<?xi32>
  // CHECK: mp.cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<10xf32>) reduction(none) : tensor<?xf32>, tensor<?x10xf32>, tensor<?xi32>
  %1 = mp.cross_entropy_backward %0, %x, %y weight(%w : tensor<10xf32>) reduction(none) : tensor<?xf32>, tensor<?x10xf32>, tensor<?xi32>
  return %0, %1 : tensor<?xf32>, tensor<?x10xf32>
}

// A class for each pixel, and probabilities of classes.
// CHECK-LABEL: @more_dimensions
// CHECK-SAME: -> (tensor<?x8x6xf16>, tensor<f16>)
func.func @more_dimensions(%x: tensor<?x10x8x6xf16>, %y: tensor<?x8x6xui8>) -> (tensor<?x8x6xf16>, tensor<f16>) {
  %0 = mp.cross_entropy %x, %y reduction(none) : tensor<?x10x8x6xf16>, tensor<?x8x6xui8>
  // CHECK: mp.cross_entropy %{{.*}}, %{{.*}} : tensor<?x10x8x6xf16>, tensor<?x10x8x6xf16>
  %1 = mp.cross_entropy %x, %x : tensor<?x10x8x6xf16>, tensor<?x10x8x6xf16>
  return %0, %1 : tensor<?x8x6xf16>, tensor<f16>
}

// CHECK-LABEL: @nll_loss
// CHECK-SAME: -> (tensor<f32>, tensor<?xf32>)
func.func @nll_loss(%x: tensor<?x10xf32>, %y: tensor<?xi32>, %w: tensor<10xf32>) -> (tensor<f32>, tensor<?xf32>) {
  // CHECK: mp.nll_loss %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<10xf32>) {ignore_index = 2 : i64} : tensor<?x10xf32>, tensor<?xi32>
  %0 = mp.nll_loss %x, %y weight(%w : tensor<10xf32>) {ignore_index = 2} : tensor<?x10xf32>, tensor<?xi32>
  // CHECK: mp.nll_loss %{{.*}}, %{{.*}} reduction(none) : tensor<?x10xf32>, tensor<?xi32>
  %1 = mp.nll_loss %x, %y reduction(none) : tensor<?x10xf32>, tensor<?xi32>
  return %0, %1 : tensor<f32>, tensor<?xf32>
}

// An accuracy is f32 for logits of any type.
// CHECK-LABEL: @accuracy
func.func @accuracy(%x: tensor<?x10xf16>, %y: tensor<?xi32>) -> tensor<f32> {
  // CHECK: mp.accuracy %{{.*}}, %{{.*}} : tensor<?x10xf16>, tensor<?xi32>
  %0 = mp.accuracy %x, %y : tensor<?x10xf16>, tensor<?xi32>
  // CHECK: mp.accuracy %{{.*}}, %{{.*}} {top_k = 5 : i64} : tensor<?x10xf16>, tensor<?xi32>
  %1 = mp.accuracy %x, %y {top_k = 5} : tensor<?x10xf16>, tensor<?xi32>
  return %0 : tensor<f32>
}

// Words in the last dimension.
// CHECK-LABEL: @classes_last
// CHECK-SAME: -> (tensor<?x3xf32>, tensor<?x3x10xf32>, tensor<f32>, tensor<f32>)
func.func @classes_last(%x: tensor<?x3x10xf32>, %y: tensor<?x3xi32>, %w: tensor<10xf32>)
    -> (tensor<?x3xf32>, tensor<?x3x10xf32>, tensor<f32>, tensor<f32>) {
  // CHECK: mp.cross_entropy %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<10xf32>) dim(2) reduction(none) : tensor<?x3x10xf32>, tensor<?x3xi32>
  %0 = mp.cross_entropy %x, %y weight(%w : tensor<10xf32>) dim(2) reduction(none) : tensor<?x3x10xf32>, tensor<?x3xi32>
  // CHECK: mp.cross_entropy_backward %{{.*}} dim(2) reduction(none) : tensor<?x3xf32>, tensor<?x3x10xf32>, tensor<?x3xi32>
  %1 = mp.cross_entropy_backward %0, %x, %y dim(2) reduction(none) : tensor<?x3xf32>, tensor<?x3x10xf32>, tensor<?x3xi32>
  // CHECK: mp.nll_loss %{{.*}}, %{{.*}} dim(2) : tensor<?x3x10xf32>, tensor<?x3xi32>
  %2 = mp.nll_loss %x, %y dim(2) : tensor<?x3x10xf32>, tensor<?x3xi32>
  // CHECK: mp.accuracy %{{.*}}, %{{.*}} dim(2) {top_k = 5 : i64} : tensor<?x3x10xf32>, tensor<?x3xi32>
  %3 = mp.accuracy %x, %y dim(2) {top_k = 5} : tensor<?x3x10xf32>, tensor<?x3xi32>
  return %0, %1, %2, %3 : tensor<?x3xf32>, tensor<?x3x10xf32>, tensor<f32>, tensor<f32>
}
