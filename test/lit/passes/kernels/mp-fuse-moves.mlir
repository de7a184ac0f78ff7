// RUN: mp-opt %s -mp-fuse | FileCheck %s

// The op after a move is fused with its own users, not with the move: the relu
// is computed at its use, as if the slice came from memory.
// CHECK-LABEL: func.func @after
func.func @after(%x: tensor<4x20xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[S:.*]] = mp.kernel({{.*}}) attributes {ops = "slice"}
  // CHECK: mp.kernel(%{{.*}} = %[[S]] : tensor<4x8xf32>) attributes {ops = "relu
  // CHECK-NOT: mp.kernel(
  %0 = mp.slice %x offsets[0, 3] sizes[4, 8] : tensor<4x20xf32>
  %1 = mp.relu %0 : tensor<4x8xf32>
  %2 = mp.softmax %1 dim(1) : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// A tensor that is concatenated with itself is one operand of the kernel.
// CHECK-LABEL: func.func @twice
func.func @twice(%x: tensor<4x20xf32>) -> tensor<4x40xf32> {
  // CHECK: mp.kernel(%[[A:[a-z0-9]+]] = %{{.*}} : tensor<4x20xf32>) attributes {ops = "concat"}
  // CHECK-NEXT: mp.concat %[[A]], %[[A]] dim(1)
  %0 = mp.concat %x, %x dim(1) : tensor<4x20xf32>, tensor<4x20xf32>
  return %0 : tensor<4x40xf32>
}

// Classes are compared at the use of the one-hot: no kernel makes it.
// CHECK-LABEL: func.func @one_hot
func.func @one_hot(%x: tensor<4x20xf32>, %y: tensor<4xui8>) -> tensor<f32> {
  // CHECK: mp.kernel({{.*}}) attributes {ops = "{{.*}}iota{{.*}}compare{{.*}}sum"}
  // CHECK-NOT: mp.kernel(
  %0 = mp.one_hot %y classes(20) as f32 : tensor<4xui8>
  %1 = mp.mul %x, %0 : tensor<4x20xf32>, tensor<4x20xf32>
  %2 = mp.sum %1 dims[0, 1] : tensor<4x20xf32>
  return %2 : tensor<f32>
}
