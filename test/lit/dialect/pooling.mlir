// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @maxima
func.func @maxima(%x: tensor<?x15x14x3xf16>) -> (tensor<?x7x7x3xf16>, tensor<?x4x5x3xf16>) {
  // CHECK: mp.max_pool2d %{{.*}} window[2, 2] strides[2, 2] : tensor<?x15x14x3xf16>
  %0 = mp.max_pool2d %x window[2, 2] strides[2, 2] : tensor<?x15x14x3xf16>
  // CHECK: mp.max_pool2d %{{.*}} window[3, 5] strides[1, 2] low[1, 0] high[0, 2] dilations[2, 1] : tensor<?x15x14x3xf16>
  %1 = mp.max_pool2d %x window[3, 5] strides[1, 2] low[1, 0] high[0, 2] dilations[2, 1] : tensor<?x15x14x3xf16>
  // CHECK: mp.adaptive_max_pool2d %{{.*}} size[4, 5] : tensor<?x15x14x3xf16>
  %2 = mp.adaptive_max_pool2d %x size[4, 5] : tensor<?x15x14x3xf16>
  return %0, %2 : tensor<?x7x7x3xf16>, tensor<?x4x5x3xf16>
}

// An index takes a byte where it can.
// CHECK-LABEL: @indices
func.func @indices(%x: tensor<?x32x32x3xf32>, %g: tensor<?x16x16x3xf32>, %h: tensor<?x3x3x3xf32>)
    -> (tensor<?x16x16x3xui8>, tensor<?x16x16x3xf32>, tensor<?x32x32x3xf32>, tensor<?x1x1x3xi32>, tensor<?x32x32x3xf32>) {
  // CHECK: mp.max_pool2d_index %{{.*}} places[16, 16] window[2, 2] strides[2, 2] : tensor<?x32x32x3xf32>
  %0 = mp.max_pool2d_index %x places[16, 16] window[2, 2] strides[2, 2] : tensor<?x32x32x3xf32>
  // CHECK: mp.max_pool2d_at %{{.*}}, %{{.*}} window[2, 2] strides[2, 2] : tensor<?x32x32x3xf32>, tensor<?x16x16x3xui8>
  %1 = mp.max_pool2d_at %x, %0 window[2, 2] strides[2, 2] : tensor<?x32x32x3xf32>, tensor<?x16x16x3xui8>
  // CHECK: mp.max_pool2d_backward %{{.*}}, %{{.*}} size[32, 32] window[2, 2] strides[2, 2] : tensor<?x16x16x3xf32>, tensor<?x16x16x3xui8>
  %2 = mp.max_pool2d_backward %g, %0 size[32, 32] window[2, 2] strides[2, 2] : tensor<?x16x16x3xf32>, tensor<?x16x16x3xui8>
  // CHECK: mp.max_pool2d_index %{{.*}} places[1, 1] : tensor<?x32x32x3xf32>
  %3 = mp.max_pool2d_index %x places[1, 1] : tensor<?x32x32x3xf32>
  // CHECK: mp.max_pool2d_index %{{.*}} places[3, 3] : tensor<?x32x32x3xf32>
  %4 = mp.max_pool2d_index %x places[3, 3] : tensor<?x32x32x3xf32>
  // CHECK: mp.max_pool2d_backward %{{.*}}, %{{.*}} size[32, 32] : tensor<?x3x3x3xf32>, tensor<?x3x3x3xui8>
  %5 = mp.max_pool2d_backward %h, %4 size[32, 32] : tensor<?x3x3x3xf32>, tensor<?x3x3x3xui8>
  return %0, %1, %2, %3, %5 : tensor<?x16x16x3xui8>, tensor<?x16x16x3xf32>, tensor<?x32x32x3xf32>, tensor<?x1x1x3xi32>, tensor<?x32x32x3xf32>
}

// The last window of ceil_mode begins within the input or the padding before it.
// CHECK-LABEL: @means
func.func @means(%x: tensor<2x6x5x3xf32>) -> (tensor<2x4x3x3xf32>, tensor<2x3x2x3xf32>, tensor<2x6x5x3xf32>, tensor<2x6x5x3xf32>) {
  // CHECK: mp.avg_pool2d %{{.*}} window[2, 3] strides[2, 2] low[1, 1] high[1, 1] ceil_mode : tensor<2x6x5x3xf32>
  %0 = mp.avg_pool2d %x window[2, 3] strides[2, 2] low[1, 1] high[1, 1] ceil_mode : tensor<2x6x5x3xf32>
  // CHECK: mp.avg_pool2d %{{.*}} window[2, 3] strides[2, 3] low[0, 1] exclude_pad ceil_mode : tensor<2x6x5x3xf32>
  %1 = mp.avg_pool2d %x window[2, 3] strides[2, 3] low[0, 1] exclude_pad ceil_mode : tensor<2x6x5x3xf32>
  // CHECK: mp.avg_pool2d_backward %{{.*}} size[6, 5] window[2, 3] strides[2, 3] low[0, 1] exclude_pad : tensor<2x3x2x3xf32>
  %2 = mp.avg_pool2d_backward %1 size[6, 5] window[2, 3] strides[2, 3] low[0, 1] exclude_pad : tensor<2x3x2x3xf32>
  // CHECK: mp.adaptive_avg_pool2d %{{.*}} size[4, 3] : tensor<2x6x5x3xf32>
  %3 = mp.adaptive_avg_pool2d %x size[4, 3] : tensor<2x6x5x3xf32>
  // CHECK: mp.avg_pool2d_backward %{{.*}} size[6, 5] : tensor<2x4x3x3xf32>
  %4 = mp.avg_pool2d_backward %3 size[6, 5] : tensor<2x4x3x3xf32>
  return %0, %1, %2, %4 : tensor<2x4x3x3xf32>, tensor<2x3x2x3xf32>, tensor<2x6x5x3xf32>, tensor<2x6x5x3xf32>
}
