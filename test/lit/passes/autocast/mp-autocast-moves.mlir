// RUN: mp-opt %s '-mp-autocast=dtype=f16' | FileCheck %s

// Moves run in the type of their operands, the wider if two differ; sums along
// a dimension in f32.
// CHECK-LABEL: @moves
func.func @moves(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> (tensor<4x2xf32>, tensor<4x10xf32>) {
  // CHECK: %[[L:.*]] = mp.linear %{{.*}} : tensor<4x8xf16>, tensor<2x8xf16>
  // CHECK: %[[W:.*]] = mp.cast %[[L]] : tensor<4x2xf16> to tensor<4x2xf32>
  %0 = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  // CHECK: mp.slice %[[L]] offsets[0, 1] sizes[-1, 1] : tensor<4x2xf16>
  %1 = mp.slice %0 offsets[0, 1] sizes[-1, 1] : tensor<4x2xf32>
  // CHECK: mp.pad %{{.*}} low[0, 1] high[0, 0] : tensor<4x1xf16>
  %2 = mp.pad %1 low[0, 1] high[0, 0] : tensor<4x1xf32>
  // CHECK: mp.concat %{{.*}}, %[[W]] dim(1) : tensor<4x8xf32>, tensor<4x2xf32>
  %3 = mp.concat %x, %0 dim(1) : tensor<4x8xf32>, tensor<4x2xf32>
  // CHECK: mp.cumsum %{{.*}} dim(1) : tensor<4x2xf32>
  %4 = mp.cumsum %2 dim(1) : tensor<4x2xf32>
  return %4, %3 : tensor<4x2xf32>, tensor<4x10xf32>
}
