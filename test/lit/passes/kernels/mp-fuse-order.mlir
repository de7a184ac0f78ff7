// RUN: mp-opt %s -mp-fuse | FileCheck %s

// A number that is all that the next op waits for is computed before what comes
// after that op. The product would be held while the number is computed.
// CHECK-LABEL: func.func @one(
// CHECK: ops = "sum"
// CHECK: ops = "reciprocal"
// CHECK: ops = "mul"
// CHECK: ops = "matmul"
func.func @one(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = mp.sum %x dims[0, 1] : tensor<8x16xf32>
  %1 = mp.reciprocal %0 : tensor<f32>
  %2 = mp.mul %x, %1 : tensor<8x16xf32>, tensor<f32>
  %3 = mp.matmul %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  return %2, %3 : tensor<8x16xf32>, tensor<8x16xf32>
}

// Numbers that lead to an op which waits for more than numbers come together
// when nothing else is left: here the first reciprocal after the second sum.
// CHECK-LABEL: func.func @several(
// CHECK: ops = "sum"
// CHECK: ops = "matmul sum"
// CHECK: ops = "reciprocal reciprocal mul"
// CHECK: ops = "mul"
func.func @several(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = mp.sum %x dims[0, 1] : tensor<8x16xf32>
  %1 = mp.reciprocal %0 : tensor<f32>
  %2 = mp.matmul %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %3 = mp.sum %2 dims[0, 1] : tensor<8x16xf32>
  %4 = mp.reciprocal %3 : tensor<f32>
  %5 = mp.mul %1, %4 : tensor<f32>, tensor<f32>
  %6 = mp.mul %x, %5 : tensor<8x16xf32>, tensor<f32>
  return %2, %6 : tensor<8x16xf32>, tensor<8x16xf32>
}

// An anchor takes in only what waits for nothing after it: not the product
// waits for the running sum, but the addition.
// CHECK-LABEL: func.func @tied(
// CHECK: ops = "matmul"
// CHECK: ops = "cumsum"
// CHECK: ops = "add"
func.func @tied(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %0 = mp.matmul %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %1 = mp.cumsum %x dim(1) : tensor<8x16xf32>
  %2 = mp.add %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
