// Classes that are the last of several dimensions: the loss and its gradient read the scores once, in one kernel, also in a
// batch of one text.
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s

// CHECK-LABEL: func.func @words
// CHECK: mp.kernel({{.*}}exp{{.*}}select{{.*}}cast"} -> (tensor<f32>, tensor<6x5xbf16>)
// CHECK-NOT: mp.kernel(
func.func @words(%scores: tensor<2x3x5xbf16>, %labels: tensor<2x3xui16>, %one: tensor<f32>) -> (tensor<f32>, tensor<6x5xbf16>) {
  %wide = mp.cast %scores : tensor<2x3x5xbf16> to tensor<2x3x5xf32>
  %loss = mp.cross_entropy %wide, %labels dim(2) reduction(sum) : tensor<2x3x5xf32>, tensor<2x3xui16>
  %gradient = mp.cross_entropy_backward %one, %wide, %labels dim(2) reduction(sum)
    : tensor<f32>, tensor<2x3x5xf32>, tensor<2x3xui16>
  %narrow = mp.cast %gradient : tensor<2x3x5xf32> to tensor<2x3x5xbf16>
  %rows = mp.reshape %narrow : tensor<2x3x5xbf16> to tensor<6x5xbf16>
  return %loss, %rows : tensor<f32>, tensor<6x5xbf16>
}

// CHECK-LABEL: func.func @text
// CHECK: mp.kernel
// CHECK: mp.reshape
func.func @text(%scores: tensor<1x3x5xf32>, %labels: tensor<1x3xi32>) -> tensor<f32> {
  %loss = mp.cross_entropy %scores, %labels dim(2) : tensor<1x3x5xf32>, tensor<1x3xi32>
  return %loss : tensor<f32>
}
