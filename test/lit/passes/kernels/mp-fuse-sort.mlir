// RUN: mp-opt %s --mp-autodiff=function=loss --mp-fuse | FileCheck %s

// Rows are sorted in their own type. The gradient goes back by their indices.
// CHECK-LABEL: @loss
func.func @loss(%x: tensor<4x100xf16>) -> tensor<f16> {
  // CHECK: mp.argsort %{{.*}} descending k(3) : tensor<4x100xf16>
  // CHECK: mp.gather %{{.*}}, %{{.*}} dim(1) batched : tensor<4x100xf16>, tensor<4x3xi32>
  %values, %indices = mp.top_k %x k(3) dim(1) : tensor<4x100xf16>
  %s = mp.sum %values dims[0, 1] : tensor<4x3xf16>
  return %s : tensor<f16>
}
// CHECK-LABEL: @loss.gradient
// CHECK: mp.argsort
// CHECK: mp.scatter_add %{{.*}}, %{{.*}} dim(1) batched size(100) : tensor<4x3xf16>, tensor<4x3xi32>

// Other dimensions are exchanged with the last one.
// CHECK-LABEL: @columns
func.func @columns(%x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  // CHECK: mp.argsort %{{.*}} : tensor<3x4xf32>
  %values, %indices = mp.sort %x dim(0) : tensor<4x3xf32>
  return %values, %indices : tensor<4x3xf32>, tensor<4x3xi32>
}

// There is nothing to compute of no elements.
// CHECK-LABEL: @nothing
func.func @nothing(%x: tensor<4x3xf32>, %y: tensor<0x3xf32>) -> (tensor<4x0xf32>, tensor<0x3xi32>) {
  // CHECK-NOT: mp.kernel
  %0, %1 = mp.top_k %x k(0) dim(1) : tensor<4x3xf32>
  %2, %3 = mp.sort %y dim(0) : tensor<0x3xf32>
  return %0, %3 : tensor<4x0xf32>, tensor<0x3xi32>
}
