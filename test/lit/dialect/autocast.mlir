// RUN: mp-opt %s | mp-opt | FileCheck %s

// CHECK-LABEL: @regions
func.func @regions(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK: %{{.*}}:2 = mp.autocast enabled(false) dtype(bf16) policy("torch-cpu") {
  %y:2 = mp.autocast enabled(false) dtype(bf16) policy("torch-cpu") {
    // CHECK: mp.autocast dtype(tf32) {
    // CHECK-NOT: mp.yield
    // CHECK: }
    mp.autocast dtype(tf32) {
    }
    // CHECK: mp.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>
    // CHECK: } : tensor<4xf32>, tensor<4xi32>
    mp.yield %x, %i : tensor<4xf32>, tensor<4xi32>
  } : tensor<4xf32>, tensor<4xi32>
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xi32>
}
