// RUN: mp-opt %s --pass-pipeline="builtin.module(func.func(mp-fuse))" | FileCheck %s

// What is computed again stands behind what it waits for, and says that it may not run before it. What it is computed
// from may be a part of a value that is kept.
// CHECK-LABEL: func.func @again
// CHECK: %[[G:.*]] = mp.kernel({{.*}}) attributes {ops = "matmul"}
// CHECK: %[[PART:.*]] = mp.kernel({{.*}}) attributes {mp.late, ops = "slice"}
// CHECK: mp.kernel({{.*}} = %[[PART]] : {{.*}}) attributes {mp.late, ops = "matmul"}
func.func @again(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %g: tensor<8x16xf32>)
    -> (tensor<8x16xf32>, tensor<4x16xf32>) {
  %a = mp.matmul %g, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %b = mp.recompute_barrier %x since %a : tensor<8x16xf32>, tensor<8x16xf32>
  %c = mp.slice %b offsets[0, 0] sizes[4, 16] : tensor<8x16xf32>
  %d = mp.matmul %c, %w : tensor<4x16xf32>, tensor<16x16xf32>
  return %a, %d : tensor<8x16xf32>, tensor<4x16xf32>
}
