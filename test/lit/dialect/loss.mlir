// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @distances
// CHECK-SAME: -> (tensor<f16>, tensor<?x4xf16>)
func.func @distances(%x: tensor<?x4xf16>, %y: tensor<4xf16>) -> (tensor<f16>, tensor<?x4xf16>) {
  // CHECK: mp.mse_loss %{{.*}}, %{{.*}} : tensor<?x4xf16>, tensor<4xf16>
  %0 = mp.mse_loss %x, %y : tensor<?x4xf16>, tensor<4xf16>
  // CHECK: mp.l1_loss %{{.*}}, %{{.*}} reduction(none) : tensor<?x4xf16>, tensor<4xf16>
  %1 = mp.l1_loss %x, %y reduction(none) : tensor<?x4xf16>, tensor<4xf16>
  // CHECK: mp.smooth_l1_loss %{{.*}}, %{{.*}} reduction(sum) {beta = 0.000000e+00 : f64} : tensor<?x4xf16>, tensor<4xf16>
  %2 = mp.smooth_l1_loss %x, %y reduction(sum) {beta = 0.0} : tensor<?x4xf16>, tensor<4xf16>
  // CHECK: mp.huber_loss %{{.*}}, %{{.*}} {delta = 2.000000e+00 : f64} : tensor<?x4xf16>, tensor<4xf16>
  %3 = mp.huber_loss %x, %y {delta = 2.0} : tensor<?x4xf16>, tensor<4xf16>
  return %0, %1 : tensor<f16>, tensor<?x4xf16>
}

// CHECK-LABEL: @divergence
func.func @divergence(%x: tensor<?x4xf32>) -> tensor<f32> {
  // CHECK: mp.kl_div %{{.*}}, %{{.*}} reduction(batchmean) {log_target} : tensor<?x4xf32>, tensor<?x4xf32>
  %0 = mp.kl_div %x, %x reduction(batchmean) {log_target} : tensor<?x4xf32>, tensor<?x4xf32>
  return %0 : tensor<f32>
}
