// RUN: mp-opt %s -mp-autodiff=function=f -mp-autocast='dtype=f16 policy=tf-fp16' | FileCheck %s

// Forward and backward in one graph, coloured at once: gradients of products, and of the ops between them, run low;
// those of the denied exp do not; arguments and results keep their types.
// CHECK-LABEL: func.func @f.gradient(
// CHECK: %[[E:.*]] = mp.exp %{{.*}} : tensor<4x4xf32>
// CHECK: mp.mul %{{.*}}, %[[E]] : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-NEXT: %[[G:.*]] = mp.cast %{{.*}} : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: %[[D:.*]] = mp.matmul %[[G]], %{{.*}} transpose_b : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK: mp.relu_backward %[[D]], %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
func.func @f(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<f32> {
  %0 = mp.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %1 = mp.relu %0 : tensor<4x4xf32>
  %2 = mp.matmul %1, %v : tensor<4x4xf32>, tensor<4x4xf32>
  %3 = mp.exp %2 : tensor<4x4xf32>
  %4 = mp.sum %3 dims[0, 1] : tensor<4x4xf32>
  return %4 : tensor<f32>
}
