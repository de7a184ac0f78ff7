// RUN: mp-opt %s -split-input-file -mp-autodiff=function=f | FileCheck %s

// The gradient of a broadcast value is summed back to its shape, leading dimensions and ones.
// CHECK-LABEL: func.func @f.gradient(
// CHECK-SAME: -> (tensor<4x3xf32>, tensor<3xf32>, tensor<4x1xf32>) {
func.func @f(%x: tensor<4x3xf32>, %row: tensor<3xf32>, %column: tensor<4x1xf32>) -> tensor<f32> {
  %0 = mp.add %x, %row : tensor<4x3xf32>, tensor<3xf32>
  %1 = mp.add %0, %column : tensor<4x3xf32>, tensor<4x1xf32>
  %2 = mp.sum %1 dims[0, 1] : tensor<4x3xf32>
  // CHECK: %[[SEED:.*]] = mp.seed : tensor<f32>
  // CHECK-NEXT: %[[G:.*]] = mp.broadcast %[[SEED]] : tensor<f32> to tensor<4x3xf32>
  // CHECK-NEXT: %[[SUM:.*]] = mp.sum %[[G]] dims[1] : tensor<4x3xf32>
  // CHECK-NEXT: %[[COLUMN:.*]] = mp.reshape %[[SUM]] : tensor<4xf32> to tensor<4x1xf32>
  // CHECK-NEXT: %[[ROW:.*]] = mp.sum %[[G]] dims[0] : tensor<4x3xf32>
  // CHECK-NEXT: return %[[G]], %[[ROW]], %[[COLUMN]]
  return %2 : tensor<f32>
}

// -----

// A gradient has the type of its value: backward runs in the types of forward.
// CHECK-LABEL: func.func @f.gradient(
func.func @f(%x: tensor<4x3xf32>, %w: tensor<2x3xf16>) -> tensor<f32> {
  %h = mp.cast %x : tensor<4x3xf32> to tensor<4x3xf16>
  %0 = mp.linear %h, %w : tensor<4x3xf16>, tensor<2x3xf16>
  %s = mp.cast %0 : tensor<4x2xf16> to tensor<4x2xf32>
  %1 = mp.sum %s dims[0, 1] : tensor<4x2xf32>
  // CHECK: %[[G:.*]] = mp.broadcast %{{.*}} : tensor<f32> to tensor<4x2xf32>
  // CHECK-NEXT: %[[LOW:.*]] = mp.cast %[[G]] : tensor<4x2xf32> to tensor<4x2xf16>
  // CHECK-NEXT: %[[X:.*]] = mp.matmul %[[LOW]], %{{.*}} : tensor<4x2xf16>, tensor<2x3xf16>
  // CHECK-NEXT: %[[W:.*]] = mp.matmul %[[LOW]], %{{.*}} transpose_a : tensor<4x2xf16>, tensor<4x3xf16>
  // CHECK-NEXT: %[[WIDE:.*]] = mp.cast %[[X]] : tensor<4x3xf16> to tensor<4x3xf32>
  // CHECK-NEXT: return %[[WIDE]], %[[W]] : tensor<4x3xf32>, tensor<2x3xf16>
  return %1 : tensor<f32>
}

// -----

// Gradients of several uses add up, and so do those of both operands of one op.
// CHECK-LABEL: func.func @f.gradient(
// CHECK-SAME: %[[X:.*]]: tensor<f32>)
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = mp.mul %x, %x : tensor<f32>, tensor<f32>
  %1 = mp.add %0, %x : tensor<f32>, tensor<f32>
  // CHECK: %[[SEED:.*]] = mp.seed
  // CHECK-NEXT: %[[LHS:.*]] = mp.mul %[[SEED]], %[[X]]
  // CHECK-NEXT: %[[RHS:.*]] = mp.mul %[[SEED]], %[[X]]
  // CHECK-NEXT: %[[TWO:.*]] = mp.add %[[SEED]], %[[LHS]]
  // CHECK-NEXT: %[[ALL:.*]] = mp.add %[[TWO]], %[[RHS]]
  // CHECK-NEXT: return %[[ALL]]
  return %1 : tensor<f32>
}

// -----

// Nothing passes mp.stop_gradient; integers and flags get no gradient; a value that
// the loss does not depend on has a gradient of zero.
// CHECK-LABEL: func.func @f.gradient(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xi32>, %{{.*}}: tensor<4xi1>, %{{.*}}: tensor<2xf32>, %{{.*}}: index)
// CHECK-SAME: -> (tensor<4xf32>, tensor<2xf32>) {
func.func @f(%x: tensor<4xf32>, %n: tensor<4xi32>, %flag: tensor<4xi1>, %unused: tensor<2xf32>, %i: index) -> tensor<f32> {
  %0 = mp.stop_gradient %x : tensor<4xf32>
  %1 = mp.mul %x, %0 : tensor<4xf32>, tensor<4xf32>
  %2 = mp.select %flag, %1, %0 : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  %3 = mp.cast %n : tensor<4xi32> to tensor<4xf32>
  %4 = mp.add %2, %3 : tensor<4xf32>, tensor<4xf32>
  %5 = mp.sum %4 dims[0] : tensor<4xf32>
  // CHECK: %[[STOPPED:.*]] = mp.stop_gradient %[[X]]
  // CHECK: %[[SELECTED:.*]] = mp.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>, tensor<f32>
  // CHECK: %[[G:.*]] = mp.mul %[[SELECTED]], %[[STOPPED]]
  // CHECK: %[[ZERO:.*]] = mp.constant dense<0.000000e+00> : tensor<2xf32>
  // CHECK-NEXT: return %[[G]], %[[ZERO]]
  return %5 : tensor<f32>
}

// -----

// The loss itself.
// CHECK-LABEL: func.func @f.gradient(
func.func @f(%x: tensor<f64>) -> tensor<f64> {
  // CHECK-NEXT: %[[SEED:.*]] = mp.seed : tensor<f64>
  // CHECK-NEXT: return %[[SEED]]
  return %x : tensor<f64>
}

// -----

// A row of no columns, and a vector.
// CHECK-LABEL: func.func @f.gradient(
func.func @f(%x: tensor<2x5x4xf32>, %w: tensor<0x4xf32>, %v: tensor<4xf32>, %u: tensor<3x4xf32>) -> tensor<f32> {
  // CHECK: mp.matmul %{{.*}} : tensor<1x3xf32>, tensor<3x4xf32>
  // CHECK: mp.matmul %{{.*}} : tensor<10x0xf32>, tensor<0x4xf32>
  %0 = mp.linear %x, %w : tensor<2x5x4xf32>, tensor<0x4xf32>
  %1 = mp.sum %0 dims[0, 1, 2] : tensor<2x5x0xf32>
  %2 = mp.linear %v, %u : tensor<4xf32>, tensor<3x4xf32>
  %3 = mp.sum %2 dims[0] : tensor<3xf32>
  %4 = mp.add %1, %3 : tensor<f32>, tensor<f32>
  return %4 : tensor<f32>
}

// -----

// The gradient of a matrix that all of a batch is multiplied by is one product over all rows, rounded once.
// CHECK-LABEL: func.func @f.gradient(
func.func @f(%x: tensor<2x3x4xbf16>, %w: tensor<4x5xbf16>, %v: tensor<6x5xbf16>) -> tensor<f32> {
  %0 = mp.matmul %x, %w : tensor<2x3x4xbf16>, tensor<4x5xbf16>
  %1 = mp.matmul %0, %v transpose_b : tensor<2x3x5xbf16>, tensor<6x5xbf16>
  %2 = mp.cast %1 : tensor<2x3x6xbf16> to tensor<2x3x6xf32>
  %3 = mp.sum %2 dims[0, 1, 2] : tensor<2x3x6xf32>
  // CHECK: mp.matmul %{{.*}}, %{{.*}} transpose_a : tensor<6x6xbf16>, tensor<6x5xbf16>
  // CHECK: mp.matmul %{{.*}}, %{{.*}} transpose_a : tensor<6x4xbf16>, tensor<6x5xbf16>
  // CHECK-NOT: mp.sum
  // CHECK: return %{{.*}} : tensor<2x3x4xbf16>, tensor<4x5xbf16>, tensor<6x5xbf16>
  return %3 : tensor<f32>
}
