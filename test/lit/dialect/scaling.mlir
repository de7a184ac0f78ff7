// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @scaling
func.func @scaling(%h: tensor<4xf16>, %k: tensor<f32>, %t: tensor<i32>) -> tensor<4xf32> {
  // CHECK: mp.seed : tensor<f64>
  %seed = mp.seed : tensor<f64>
  // CHECK: mp.scale %{{.*}}, %{{.*}} : tensor<f64>, tensor<f32>
  %s = mp.scale %seed, %k : tensor<f64>, tensor<f32>
  // CHECK: %[[G:.*]], %[[BAD:.*]] = mp.unscale_and_check %{{.*}}, %{{.*}} : tensor<4xf16>, tensor<f32>
  %g, %bad = mp.unscale_and_check %h, %k : tensor<4xf16>, tensor<f32>
  // CHECK: mp.inverse_scale %{{.*}} : tensor<f32>
  %i = mp.inverse_scale %k : tensor<f32>
  // CHECK: mp.update_scale %{{.*}}, %{{.*}}, %[[BAD]] {growth_interval = 100 : i64} : tensor<f32>, tensor<i32>, tensor<i1>
  %k1, %t1, %e1 = mp.update_scale %k, %t, %bad {growth_interval = 100} : tensor<f32>, tensor<i32>, tensor<i1>
  // CHECK: return %[[G]] : tensor<4xf32>
  return %g : tensor<4xf32>
}
