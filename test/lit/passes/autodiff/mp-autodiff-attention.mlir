// RUN: mp-opt %s -split-input-file -mp-autodiff=function=f | FileCheck %s

// One op gives the gradients of query, key and value, from the sums of gradient times result per query.
// CHECK-LABEL: func.func @f.gradient(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<2x7x4x8xf32>, %[[K:[^:]*]]: tensor<2x5x2x8xf32>, %[[V:[^:]*]]: tensor<2x5x2x3xf32>, %[[L:[^:]*]]: tensor<2xi32>
func.func @f(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %l: tensor<2xi32>) -> tensor<f32> {
  // CHECK: %[[Y:.*]], %[[LSE:.*]] = mp.scaled_dot_product_attention
  // CHECK: %[[G:.*]] = mp.broadcast %{{.*}} : tensor<f32> to tensor<2x7x4x3xf32>
  // CHECK-NEXT: %[[GY:.*]] = mp.mul %[[G]], %[[Y]]
  // CHECK-NEXT: %[[DELTA:.*]] = mp.sum %[[GY]] dims[3]
  // CHECK-NEXT: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = mp.scaled_dot_product_attention_backward %[[G]], %[[Q]], %[[K]], %[[V]], %[[LSE]], %[[DELTA]] lengths(%[[L]] : tensor<2xi32>) causal window(3) query_offset(1) {scale = 5.000000e-01 : f64} :
  // CHECK-NEXT: return %[[DQ]], %[[DK]], %[[DV]] :
  %y, %lse = mp.scaled_dot_product_attention %q, %k, %v lengths(%l : tensor<2xi32>) causal window(3) query_offset(1) {scale = 0.5} : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  %1 = mp.sum %y dims[0, 1, 2, 3] : tensor<2x7x4x3xf32>
  return %1 : tensor<f32>
}

// -----

// The gradient of log_sum_exp is subtracted from these sums, which are f32 for 16-bit operands.
// CHECK-LABEL: func.func @f.gradient(
func.func @f(%q: tensor<2x7x4x8xbf16>, %k: tensor<2x5x4x8xbf16>) -> tensor<f32> {
  // CHECK-DAG: %[[GLSE:.*]] = mp.broadcast %{{.*}} : tensor<f32> to tensor<2x7x4xf32>
  // CHECK-DAG: %[[SUM:.*]] = mp.sum %{{.*}} dims[3] : tensor<2x7x4x8xf32>
  // CHECK: %[[DELTA:.*]] = mp.sub %[[SUM]], %[[GLSE]] : tensor<2x7x4xf32>, tensor<2x7x4xf32>
  // CHECK: mp.scaled_dot_product_attention_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[DELTA]] :
  %y, %lse = mp.scaled_dot_product_attention %q, %k, %k : tensor<2x7x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>
  %w = mp.cast %y : tensor<2x7x4x8xbf16> to tensor<2x7x4x8xf32>
  %1 = mp.sum %w dims[0, 1, 2, 3] : tensor<2x7x4x8xf32>
  %2 = mp.sum %lse dims[0, 1, 2] : tensor<2x7x4xf32>
  %3 = mp.add %1, %2 : tensor<f32>, tensor<f32>
  return %3 : tensor<f32>
}

// -----

// The gradients of a float mask and of slopes sum scores, which are computed again as a whole.
// CHECK-LABEL: func.func @f.gradient(
func.func @f(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %m: tensor<4x1x5xf32>, %s: tensor<4xf32>) -> tensor<f32> {
  // CHECK: mp.scaled_dot_product_attention_backward
  // CHECK: mp.matmul %{{.*}}, %{{.*}} transpose_b : tensor<2x4x7x8xf32>, tensor<2x4x5x8xf32>
  // CHECK: mp.matmul %{{.*}}, %{{.*}} transpose_b : tensor<2x4x7x8xf32>, tensor<2x4x5x8xf32>
  // CHECK-DAG: mp.sum %{{.*}} dims[0, 2] : tensor<2x4x7x5xf32>
  // CHECK-DAG: mp.sum %{{.*}} dims[0, 2, 3] : tensor<2x4x7x5xf32>
  // CHECK: return %{{.*}} : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<4x1x5xf32>, tensor<4xf32>
  %y, %lse = mp.scaled_dot_product_attention %q, %k, %k mask(%m : tensor<4x1x5xf32>) slopes(%s : tensor<4xf32>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x8xf32>
  %1 = mp.sum %y dims[0, 1, 2, 3] : tensor<2x7x4x8xf32>
  return %1 : tensor<f32>
}

// -----

// Masks and slopes may be of another type than the scores: they are cast to it, and their gradients back.
// CHECK-LABEL: func.func @f.gradient(
func.func @f(%q: tensor<2x7x4x8xf64>, %k: tensor<2x5x2x8xf64>, %m: tensor<7x5xf32>, %s: tensor<4xf32>) -> tensor<f64> {
  // CHECK: mp.cast %{{.*}} : tensor<7x5xf32> to tensor<7x5xf64>
  // CHECK: mp.cast %{{.*}} : tensor<4x1x1xf32> to tensor<4x1x1xf64>
  // CHECK: return %{{.*}} : tensor<2x7x4x8xf64>, tensor<2x5x2x8xf64>, tensor<7x5xf32>, tensor<4xf32>
  %y, %lse = mp.scaled_dot_product_attention %q, %k, %k mask(%m : tensor<7x5xf32>) slopes(%s : tensor<4xf32>) : tensor<2x7x4x8xf64>, tensor<2x5x2x8xf64>, tensor<2x5x2x8xf64>
  %1 = mp.sum %y dims[0, 1, 2, 3] : tensor<2x7x4x8xf64>
  return %1 : tensor<f64>
}

// -----

// CHECK-LABEL: func.func @f.gradient(
func.func @f(%q: tensor<2x7x4x8xbf16>, %m: tensor<7x7xf64>, %s: tensor<4xf64>) -> tensor<bf16> {
  // CHECK: mp.cast %{{.*}} : tensor<7x7xf64> to tensor<7x7xf32>
  // CHECK: mp.cast %{{.*}} : tensor<4x1x1xf64> to tensor<4x1x1xf32>
  // CHECK: return %{{.*}} : tensor<2x7x4x8xbf16>, tensor<7x7xf64>, tensor<4xf64>
  %y, %lse = mp.scaled_dot_product_attention %q, %q, %q mask(%m : tensor<7x7xf64>) slopes(%s : tensor<4xf64>) : tensor<2x7x4x8xbf16>, tensor<2x7x4x8xbf16>, tensor<2x7x4x8xbf16>
  %1 = mp.sum %y dims[0, 1, 2, 3] : tensor<2x7x4x8xbf16>
  return %1 : tensor<bf16>
}

// -----

// The gradient of a float mask draws what the kernel has drawn.
// CHECK-LABEL: func.func @f.gradient(
func.func @f(%q: tensor<2x7x4x8xf32>, %m: tensor<7x7xf32>) -> tensor<f32> {
  // CHECK: %[[KEY:.*]] = mp.random_key stream(3)
  // CHECK: mp.scaled_dot_product_attention_backward {{.*}} dropout(%[[KEY]], 5.000000e-01)
  // CHECK: mp.dropout_backward %{{.*}} stream(3) {{.*}}: tensor<2x4x7x7xf32>
  %key = mp.random_key stream(3)
  %y, %lse = mp.scaled_dot_product_attention %q, %q, %q mask(%m : tensor<7x7xf32>) dropout(%key, 0.5) : tensor<2x7x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x8xf32>
  %1 = mp.sum %y dims[0, 1, 2, 3] : tensor<2x7x4x8xf32>
  return %1 : tensor<f32>
}
