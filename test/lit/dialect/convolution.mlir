// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @conv2d
func.func @conv2d(%x: tensor<?x8x9x4xf16>, %w: tensor<6x3x5x4xf16>, %b: tensor<6xf16>) -> tensor<?x4x3x6xf16> {
  // CHECK: mp.conv2d %{{.*}}, %{{[^,]*}} : tensor<?x8x9x4xf16>, tensor<6x3x5x4xf16>
  %0 = mp.conv2d %x, %w : tensor<?x8x9x4xf16>, tensor<6x3x5x4xf16>
  // CHECK: mp.conv2d %{{.*}}, %{{.*}}, %{{.*}} strides[2, 3] low[1, 2] high[0, 1] : tensor<?x8x9x4xf16>, tensor<6x3x5x4xf16>, tensor<6xf16>
  %1 = mp.conv2d %x, %w, %b strides[2, 3] low[1, 2] high[0, 1] : tensor<?x8x9x4xf16>, tensor<6x3x5x4xf16>, tensor<6xf16>
  return %1 : tensor<?x4x3x6xf16>
}

// Each list may stand alone. A dilated window spans (size - 1) * dilation + 1 elements.
// CHECK-LABEL: @lists
func.func @lists(%x: tensor<2x8x9x4xf32>, %w: tensor<6x3x5x4xf32>) -> (tensor<2x3x3x6xf32>, tensor<2x7x7x6xf32>, tensor<2x6x8x6xf32>, tensor<2x2x1x6xf32>) {
  // CHECK: mp.conv2d %{{.*}} strides[2, 2] :
  %0 = mp.conv2d %x, %w strides[2, 2] : tensor<2x8x9x4xf32>, tensor<6x3x5x4xf32>
  // CHECK: mp.conv2d %{{.*}} low[1, 2] :
  %1 = mp.conv2d %x, %w low[1, 2] : tensor<2x8x9x4xf32>, tensor<6x3x5x4xf32>
  // CHECK: mp.conv2d %{{.*}} high[0, 3] :
  %2 = mp.conv2d %x, %w high[0, 3] : tensor<2x8x9x4xf32>, tensor<6x3x5x4xf32>
  // CHECK: mp.conv2d %{{.*}} dilations[3, 2] :
  %3 = mp.conv2d %x, %w dilations[3, 2] : tensor<2x8x9x4xf32>, tensor<6x3x5x4xf32>
  return %0, %1, %2, %3 : tensor<2x3x3x6xf32>, tensor<2x7x7x6xf32>, tensor<2x6x8x6xf32>, tensor<2x2x1x6xf32>
}

// A group of input channels makes a group of output channels; a depthwise convolution may have several for each.
// CHECK-LABEL: @groups
func.func @groups(%x: tensor<2x5x5x4xf32>, %w: tensor<6x3x3x2xf32>, %d: tensor<8x3x3x1xf32>) -> (tensor<2x3x3x6xf32>, tensor<2x5x5x8xf32>) {
  // CHECK: mp.conv2d %{{.*}} groups(2) : tensor<2x5x5x4xf32>, tensor<6x3x3x2xf32>
  %0 = mp.conv2d %x, %w groups(2) : tensor<2x5x5x4xf32>, tensor<6x3x3x2xf32>
  // CHECK: mp.conv2d %{{.*}} low[1, 1] high[1, 1] groups(4) : tensor<2x5x5x4xf32>, tensor<8x3x3x1xf32>
  %1 = mp.conv2d %x, %d low[1, 1] high[1, 1] groups(4) : tensor<2x5x5x4xf32>, tensor<8x3x3x1xf32>
  return %0, %1 : tensor<2x3x3x6xf32>, tensor<2x5x5x8xf32>
}

// The window may be as large as the padded input, and no larger: then it has one place.
// CHECK-LABEL: @one_place
func.func @one_place(%x: tensor<2x4x6x3xf32>, %w: tensor<5x5x7x3xf32>) -> tensor<2x1x1x5xf32> {
  %0 = mp.conv2d %x, %w strides[3, 3] low[1, 0] high[0, 1] : tensor<2x4x6x3xf32>, tensor<5x5x7x3xf32>
  return %0 : tensor<2x1x1x5xf32>
}

// CHECK-LABEL: @no_images
func.func @no_images(%x: tensor<0x4x4x3xf32>, %w: tensor<5x3x3x3xf32>) -> tensor<0x2x2x5xf32> {
  %0 = mp.conv2d %x, %w : tensor<0x4x4x3xf32>, tensor<5x3x3x3xf32>
  return %0 : tensor<0x2x2x5xf32>
}

// CHECK-LABEL: @types
func.func @types(%x: tensor<2x4x4x3xbf16>, %w: tensor<5x3x3x3xbf16>, %b: tensor<5xbf16>, %x8: tensor<2x4x4x3xf8E4M3FN>, %w8: tensor<5x3x3x3xf8E5M2>, %b8: tensor<5xf32>, %xd: tensor<2x4x4x3xf64>, %wd: tensor<5x3x3x3xf64>, %xf: tensor<2x4x4x3xf32>, %wf: tensor<5x3x3x3xf32>) -> (tensor<2x2x2x5xf32>, tensor<2x2x2x5xf32>, tensor<2x2x2x5xf64>, tensor<2x2x2x5xf32>) {
  // CHECK: mp.conv2d %{{.*}} out_dtype(f32) : tensor<2x4x4x3xbf16>, tensor<5x3x3x3xbf16>, tensor<5xbf16>
  %0 = mp.conv2d %x, %w, %b out_dtype(f32) : tensor<2x4x4x3xbf16>, tensor<5x3x3x3xbf16>, tensor<5xbf16>
  // Sums of 8-bit operands are f32 always.
  %1 = mp.conv2d %x8, %w8, %b8 : tensor<2x4x4x3xf8E4M3FN>, tensor<5x3x3x3xf8E5M2>, tensor<5xf32>
  %2 = mp.conv2d %xd, %wd : tensor<2x4x4x3xf64>, tensor<5x3x3x3xf64>
  // CHECK: mp.conv2d %{{.*}} {compute = tf32} : tensor<2x4x4x3xf32>
  %3 = mp.conv2d %xf, %wf {compute = tf32} : tensor<2x4x4x3xf32>, tensor<5x3x3x3xf32>
  return %0, %1, %2, %3 : tensor<2x2x2x5xf32>, tensor<2x2x2x5xf32>, tensor<2x2x2x5xf64>, tensor<2x2x2x5xf32>
}

// Two sizes of a result may have one size of an input, which is why `size` is given: 3 places of stride 2 cover 7 or 8.
// CHECK-LABEL: @conv_transpose2d
func.func @conv_transpose2d(%x: tensor<?x3x3x4xf32>, %w: tensor<4x3x3x5xf32>, %b: tensor<5xf32>) -> (tensor<?x7x8x5xf32>, tensor<?x8x7x5xf32>) {
  // CHECK: mp.conv_transpose2d %{{.*}}, %{{.*}} size[7, 8] strides[2, 2] : tensor<?x3x3x4xf32>, tensor<4x3x3x5xf32>
  %0 = mp.conv_transpose2d %x, %w size[7, 8] strides[2, 2] : tensor<?x3x3x4xf32>, tensor<4x3x3x5xf32>
  // CHECK: mp.conv_transpose2d %{{.*}}, %{{.*}}, %{{.*}} size[8, 7] strides[2, 2] : tensor<?x3x3x4xf32>, tensor<4x3x3x5xf32>, tensor<5xf32>
  %1 = mp.conv_transpose2d %x, %w, %b size[8, 7] strides[2, 2] : tensor<?x3x3x4xf32>, tensor<4x3x3x5xf32>, tensor<5xf32>
  return %0, %1 : tensor<?x7x8x5xf32>, tensor<?x8x7x5xf32>
}

// The weight of a transposed convolution has the output channels of one group.
// CHECK-LABEL: @transposed_groups
func.func @transposed_groups(%x: tensor<2x3x3x4xf16>, %w: tensor<4x2x2x3xf16>, %b: tensor<6xf16>) -> tensor<2x5x4x6xf16> {
  // CHECK: mp.conv_transpose2d %{{.*}} size[5, 4] dilations[2, 1] groups(2) : tensor<2x3x3x4xf16>, tensor<4x2x2x3xf16>, tensor<6xf16>
  %0 = mp.conv_transpose2d %x, %w, %b size[5, 4] dilations[2, 1] groups(2) : tensor<2x3x3x4xf16>, tensor<4x2x2x3xf16>, tensor<6xf16>
  return %0 : tensor<2x5x4x6xf16>
}

// CHECK-LABEL: @gradients
func.func @gradients(%g: tensor<?x4x3x6xbf16>, %x: tensor<?x8x9x4xbf16>, %w: tensor<6x3x5x2xbf16>) -> (tensor<?x8x9x4xbf16>, tensor<6x3x5x2xf32>) {
  // CHECK: mp.conv2d_backward_input %{{.*}}, %{{.*}} size[8, 9] strides[2, 3] low[1, 2] high[0, 1] groups(2) : tensor<?x4x3x6xbf16>, tensor<6x3x5x2xbf16>
  %0 = mp.conv2d_backward_input %g, %w size[8, 9] strides[2, 3] low[1, 2] high[0, 1] groups(2) : tensor<?x4x3x6xbf16>, tensor<6x3x5x2xbf16>
  // CHECK: mp.conv2d_backward_weight %{{.*}}, %{{.*}} size[3, 5] strides[2, 3] low[1, 2] high[0, 1] groups(2) out_dtype(f32) : tensor<?x4x3x6xbf16>, tensor<?x8x9x4xbf16>
  %1 = mp.conv2d_backward_weight %g, %x size[3, 5] strides[2, 3] low[1, 2] high[0, 1] groups(2) out_dtype(f32) : tensor<?x4x3x6xbf16>, tensor<?x8x9x4xbf16>
  return %0, %1 : tensor<?x8x9x4xbf16>, tensor<6x3x5x2xf32>
}
