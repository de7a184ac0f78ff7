// RUN: mp-opt %s -mp-run-pipeline | FileCheck %s

// Scores of 37 queries and 41 keys exist as a tensor only where a float mask or slopes are trained.

// CHECK-LABEL: func.func @masked(
// CHECK-NOT: 37x41
// CHECK: mp.scaled_dot_product_attention_backward
// CHECK-NOT: 37x41
// CHECK-LABEL: func.func @trained_mask(
// CHECK: mp.scaled_dot_product_attention_backward
// CHECK: tensor<2x4x37x41xf32>
// CHECK-LABEL: func.func @trained_slopes(
// CHECK: mp.scaled_dot_product_attention_backward
// CHECK: tensor<2x4x37x41xf32>

func.func @masked(%q: tensor<2x37x4x8xf32>, %k: tensor<2x41x4x8xf32>, %m: tensor<2x1x1x41xf32>, %s: tensor<4xf32>) -> (tensor<2x37x4x8xf32>, tensor<2x41x4x8xf32>) {
  %y, %lse = mp.scaled_dot_product_attention %q, %k, %k mask(%m : tensor<2x1x1x41xf32>) slopes(%s : tensor<4xf32>) : tensor<2x37x4x8xf32>, tensor<2x41x4x8xf32>, tensor<2x41x4x8xf32>
  %l = mp.sum %y dims[0, 1, 2, 3] : tensor<2x37x4x8xf32>
  %dq, %dk = mp.gradient %l of %q, %k : tensor<f32>, tensor<2x37x4x8xf32>, tensor<2x41x4x8xf32>
  return %dq, %dk : tensor<2x37x4x8xf32>, tensor<2x41x4x8xf32>
}

func.func @trained_mask(%q: tensor<2x37x4x8xf32>, %k: tensor<2x41x4x8xf32>, %m: tensor<2x1x1x41xf32>, %s: tensor<4xf32>) -> (tensor<2x37x4x8xf32>, tensor<2x1x1x41xf32>) {
  %y, %lse = mp.scaled_dot_product_attention %q, %k, %k mask(%m : tensor<2x1x1x41xf32>) slopes(%s : tensor<4xf32>) : tensor<2x37x4x8xf32>, tensor<2x41x4x8xf32>, tensor<2x41x4x8xf32>
  %l = mp.sum %y dims[0, 1, 2, 3] : tensor<2x37x4x8xf32>
  %dq, %dm = mp.gradient %l of %q, %m : tensor<f32>, tensor<2x37x4x8xf32>, tensor<2x1x1x41xf32>
  return %dq, %dm : tensor<2x37x4x8xf32>, tensor<2x1x1x41xf32>
}

func.func @trained_slopes(%q: tensor<2x37x4x8xf32>, %k: tensor<2x41x4x8xf32>, %m: tensor<2x1x1x41xf32>, %s: tensor<4xf32>) -> (tensor<2x37x4x8xf32>, tensor<4xf32>) {
  %y, %lse = mp.scaled_dot_product_attention %q, %k, %k mask(%m : tensor<2x1x1x41xf32>) slopes(%s : tensor<4xf32>) : tensor<2x37x4x8xf32>, tensor<2x41x4x8xf32>, tensor<2x41x4x8xf32>
  %l = mp.sum %y dims[0, 1, 2, 3] : tensor<2x37x4x8xf32>
  %dq, %ds = mp.gradient %l of %q, %s : tensor<f32>, tensor<2x37x4x8xf32>, tensor<4xf32>
  return %dq, %ds : tensor<2x37x4x8xf32>, tensor<4xf32>
}
