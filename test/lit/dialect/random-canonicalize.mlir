// RUN: mp-opt %s -canonicalize -cse | FileCheck %s

// A dropout that never drops is left unchanged.
// CHECK-LABEL: @never
// CHECK-NEXT: return %arg0, %arg0
func.func @never(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = mp.dropout %x {p = 0.0} : tensor<4xf32>
  %1 = mp.dropout_backward %x stream(0) {p = 0.0} : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Without a stream, two ops that look alike draw different numbers; unused ones
// are erased.
// CHECK-LABEL: @different
// CHECK-NEXT: %[[A:.*]] = mp.uniform : tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = mp.uniform : tensor<4xf32>
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @different() -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = mp.uniform : tensor<4xf32>
  %1 = mp.uniform : tensor<4xf32>
  %2 = mp.uniform : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// With a stream, they are the same.
// CHECK-LABEL: @same
// CHECK-NEXT: %[[A:.*]] = mp.dropout_backward
// CHECK-NEXT: return %[[A]], %[[A]]
func.func @same(%g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = mp.dropout_backward %g stream(1) : tensor<4xf32>
  %1 = mp.dropout_backward %g stream(1) : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
