// RUN: mp-opt %s -split-input-file -mp-autodiff=function=f | FileCheck %s

// The gradients of a convolution are two convolutions with the same window, and a sum for the bias.
// CHECK-LABEL: func.func @f.gradient(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x7x6x4xf32>, %[[W:[^:]*]]: tensor<6x3x3x2xf32>
func.func @f(%x: tensor<2x7x6x4xf32>, %w: tensor<6x3x3x2xf32>, %b: tensor<6xf32>) -> tensor<f32> {
  %0 = mp.conv2d %x, %w, %b strides[2, 1] low[1, 0] high[1, 2] dilations[1, 2] groups(2) {compute = tf32} : tensor<2x7x6x4xf32>, tensor<6x3x3x2xf32>, tensor<6xf32>
  // CHECK: %[[G:.*]] = mp.broadcast %{{.*}} : tensor<f32> to tensor<2x4x4x6xf32>
  // CHECK-NEXT: %[[DX:.*]] = mp.conv2d_backward_input %[[G]], %[[W]] size[7, 6] strides[2, 1] low[1, 0] high[1, 2] dilations[1, 2] groups(2) {compute = tf32} : tensor<2x4x4x6xf32>, tensor<6x3x3x2xf32>
  // CHECK-NEXT: %[[DW:.*]] = mp.conv2d_backward_weight %[[G]], %[[X]] size[3, 3] strides[2, 1] low[1, 0] high[1, 2] dilations[1, 2] groups(2) {compute = tf32} : tensor<2x4x4x6xf32>, tensor<2x7x6x4xf32>
  // CHECK-NEXT: %[[DB:.*]] = mp.sum %[[G]] dims[0, 1, 2] : tensor<2x4x4x6xf32>
  // CHECK-NEXT: return %[[DX]], %[[DW]], %[[DB]]
  %1 = mp.sum %0 dims[0, 1, 2, 3] : tensor<2x4x4x6xf32>
  return %1 : tensor<f32>
}

// -----

// Both run in the 16 bits of forward.
// CHECK-LABEL: func.func @f.gradient(
func.func @f(%x: tensor<2x7x6x4xf32>, %w: tensor<6x3x3x4xf16>) -> tensor<f32> {
  %h = mp.cast %x : tensor<2x7x6x4xf32> to tensor<2x7x6x4xf16>
  %0 = mp.conv2d %h, %w : tensor<2x7x6x4xf16>, tensor<6x3x3x4xf16>
  %s = mp.cast %0 : tensor<2x5x4x6xf16> to tensor<2x5x4x6xf32>
  // CHECK: %[[LOW:.*]] = mp.cast %{{.*}} : tensor<2x5x4x6xf32> to tensor<2x5x4x6xf16>
  // CHECK-NEXT: %[[DX:.*]] = mp.conv2d_backward_input %[[LOW]], %{{.*}} size[7, 6] : tensor<2x5x4x6xf16>, tensor<6x3x3x4xf16>
  // CHECK-NEXT: %[[DW:.*]] = mp.conv2d_backward_weight %[[LOW]], %{{.*}} size[3, 3] : tensor<2x5x4x6xf16>, tensor<2x7x6x4xf16>
  // CHECK-NEXT: %[[WIDE:.*]] = mp.cast %[[DX]] : tensor<2x7x6x4xf16> to tensor<2x7x6x4xf32>
  // CHECK-NEXT: return %[[WIDE]], %[[DW]] : tensor<2x7x6x4xf32>, tensor<6x3x3x4xf16>
  %1 = mp.sum %s dims[0, 1, 2, 3] : tensor<2x5x4x6xf32>
  return %1 : tensor<f32>
}

// -----

// Sums that are not rounded have f32 gradients, which f32 factors multiply; each gradient is rounded once.
// CHECK-LABEL: func.func @f.gradient(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x7x6x4xbf16>, %[[W:[^:]*]]: tensor<6x3x3x4xbf16>, %{{.*}}: tensor<6xbf16>
func.func @f(%x: tensor<2x7x6x4xbf16>, %w: tensor<6x3x3x4xbf16>, %b: tensor<6xbf16>) -> tensor<f32> {
  %0 = mp.conv2d %x, %w, %b out_dtype(f32) : tensor<2x7x6x4xbf16>, tensor<6x3x3x4xbf16>, tensor<6xbf16>
  // CHECK: %[[G:.*]] = mp.broadcast %{{.*}} : tensor<f32> to tensor<2x5x4x6xf32>
  // CHECK: %[[WW:.*]] = mp.cast %[[W]] : tensor<6x3x3x4xbf16> to tensor<6x3x3x4xf32>
  // CHECK: %[[DX:.*]] = mp.conv2d_backward_input %[[G]], %[[WW]] size[7, 6] : tensor<2x5x4x6xf32>, tensor<6x3x3x4xf32>
  // CHECK: %[[WX:.*]] = mp.cast %[[X]] : tensor<2x7x6x4xbf16> to tensor<2x7x6x4xf32>
  // CHECK: %[[DW:.*]] = mp.conv2d_backward_weight %[[G]], %[[WX]] size[3, 3] : tensor<2x5x4x6xf32>, tensor<2x7x6x4xf32>
  // CHECK: %[[DB:.*]] = mp.sum %[[G]] dims[0, 1, 2] : tensor<2x5x4x6xf32>
  // CHECK-DAG: mp.cast %[[DX]] : tensor<2x7x6x4xf32> to tensor<2x7x6x4xbf16>
  // CHECK-DAG: mp.cast %[[DW]] : tensor<6x3x3x4xf32> to tensor<6x3x3x4xbf16>
  // CHECK-DAG: mp.cast %[[DB]] : tensor<6xf32> to tensor<6xbf16>
  %1 = mp.sum %0 dims[0, 1, 2, 3] : tensor<2x5x4x6xf32>
  return %1 : tensor<f32>
}

// -----

// The gradient of a transposed convolution's input is a convolution, and the weight's has the images in the other order.
// CHECK-LABEL: func.func @f.gradient(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3x3x4xf32>, %[[W:[^:]*]]: tensor<4x3x3x5xf32>
func.func @f(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xf32>, %b: tensor<5xf32>) -> tensor<f32> {
  %0 = mp.conv_transpose2d %x, %w, %b size[6, 5] strides[2, 2] low[1, 1] high[1, 1] : tensor<2x3x3x4xf32>, tensor<4x3x3x5xf32>, tensor<5xf32>
  // CHECK: %[[G:.*]] = mp.broadcast %{{.*}} : tensor<f32> to tensor<2x6x5x5xf32>
  // CHECK-NEXT: mp.conv2d %[[G]], %[[W]] strides[2, 2] low[1, 1] high[1, 1] : tensor<2x6x5x5xf32>, tensor<4x3x3x5xf32>
  // CHECK-NEXT: mp.conv2d_backward_weight %[[X]], %[[G]] size[3, 3] strides[2, 2] low[1, 1] high[1, 1] : tensor<2x3x3x4xf32>, tensor<2x6x5x5xf32>
  // CHECK-NEXT: mp.sum %[[G]] dims[0, 1, 2] : tensor<2x6x5x5xf32>
  %1 = mp.sum %0 dims[0, 1, 2, 3] : tensor<2x6x5x5xf32>
  return %1 : tensor<f32>
}

// -----

// Only what is asked for is built: the first layer of a network needs no gradient of its images.
// CHECK-LABEL: func.func @f.gradient(
// CHECK-NOT: mp.conv2d_backward_input
// CHECK: mp.conv2d_backward_weight
// CHECK-NOT: mp.conv2d_backward_input
func.func @f(%x: tensor<2x7x6x3xui8>, %w: tensor<6x3x3x3xf32>) -> tensor<f32> {
  %h = mp.cast %x : tensor<2x7x6x3xui8> to tensor<2x7x6x3xf32>
  %0 = mp.conv2d %h, %w : tensor<2x7x6x3xf32>, tensor<6x3x3x3xf32>
  %1 = mp.sum %0 dims[0, 1, 2, 3] : tensor<2x5x4x6xf32>
  return %1 : tensor<f32>
}
