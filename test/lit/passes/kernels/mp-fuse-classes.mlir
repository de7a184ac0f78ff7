// RUN: mp-opt %s -mp-fuse | FileCheck %s --implicit-check-not=mp.kernel

// The losses of words, whose classes are in the last dimension, are one kernel,
// as those of [rows, classes] are.
// CHECK-LABEL: @rows
// CHECK: mp.kernel
func.func @rows(%x: tensor<6x50xf32>, %y: tensor<6xi32>) -> tensor<6xf32> {
  %0 = mp.cross_entropy %x, %y reduction(none) : tensor<6x50xf32>, tensor<6xi32>
  return %0 : tensor<6xf32>
}

// CHECK-LABEL: @words
// CHECK: mp.kernel
func.func @words(%x: tensor<2x3x50xf32>, %y: tensor<2x3xi32>) -> tensor<2x3xf32> {
  %0 = mp.cross_entropy %x, %y dim(2) reduction(none) : tensor<2x3x50xf32>, tensor<2x3xi32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @gradient
// CHECK: mp.kernel
func.func @gradient(%g: tensor<2x3xf32>, %x: tensor<2x3x50xf32>, %y: tensor<2x3xi32>) -> tensor<2x3x50xf32> {
  %0 = mp.cross_entropy_backward %g, %x, %y dim(2) reduction(none) : tensor<2x3xf32>, tensor<2x3x50xf32>, tensor<2x3xi32>
  return %0 : tensor<2x3x50xf32>
}
