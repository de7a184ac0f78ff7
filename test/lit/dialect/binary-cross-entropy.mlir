// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @probabilities
// CHECK-SAME: -> (tensor<f32>, tensor<?x4xf32>)
func.func @probabilities(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %w: tensor<4xf32>) -> (tensor<f32>, tensor<?x4xf32>) {
  // CHECK: mp.binary_cross_entropy %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>
  %0 = mp.binary_cross_entropy %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK: mp.binary_cross_entropy %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<4xf32>) reduction(none) : tensor<?x4xf32>, tensor<?x4xf32>
  %1 = mp.binary_cross_entropy %x, %y weight(%w : tensor<4xf32>) reduction(none) : tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK: mp.binary_cross_entropy_backward %{{.*}}, %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<4xf32>) : tensor<f32>, tensor<?x4xf32>, tensor<?x4xf32>
  %2 = mp.binary_cross_entropy_backward %0, %x, %y weight(%w : tensor<4xf32>) : tensor<f32>, tensor<?x4xf32>, tensor<?x4xf32>
  return %0, %1 : tensor<f32>, tensor<?x4xf32>
}

// CHECK-LABEL: @logits
func.func @logits(%x: tensor<?x4xf16>, %y: tensor<?x4xf16>, %w: tensor<?x1xf16>, %p: tensor<4xf16>) -> tensor<?x4xf16> {
  // CHECK: mp.binary_cross_entropy_with_logits %{{.*}}, %{{.*}} pos_weight(%{{.*}} : tensor<4xf16>) reduction(sum) : tensor<?x4xf16>, tensor<?x4xf16>
  %0 = mp.binary_cross_entropy_with_logits %x, %y pos_weight(%p : tensor<4xf16>) reduction(sum) : tensor<?x4xf16>, tensor<?x4xf16>
  // CHECK: mp.binary_cross_entropy_with_logits_backward %{{.*}}, %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<?x1xf16>) pos_weight(%{{.*}} : tensor<4xf16>)
  // CHECK-SAME: tensor<f16>, tensor<?x4xf16>, tensor<?x4xf16>
  %1 = mp.binary_cross_entropy_with_logits_backward %0, %x, %y weight(%w : tensor<?x1xf16>) pos_weight(%p : tensor<4xf16>)
    : tensor<f16>, tensor<?x4xf16>, tensor<?x4xf16>
  return %1 : tensor<?x4xf16>
}
