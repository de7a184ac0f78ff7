// RUN: mp-opt %s -mp-autodiff -mp-master-weights -mp-optimizer | FileCheck %s

// A master is written with its copies; one that f16 cannot hold skips the step, while
// bf16 has the range of f32.
mp.variable @w : tensor<4xf16> = #mp.init<zeros>
mp.variable @v : tensor<4xbf16> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %w = mp.read @w : tensor<4xf16>
  %v = mp.read @v : tensor<4xbf16>
  %0 = mp.cast %w : tensor<4xf16> to tensor<4xf32>
  %1 = mp.cast %v : tensor<4xbf16> to tensor<4xf32>
  %2 = mp.mul %0, %1 : tensor<4xf32>, tensor<4xf32>
  %3 = mp.sum %2 dims[0] : tensor<4xf32>
  return %3 : tensor<f32>
}
// CHECK: func.func @step() -> (tensor<f32>, tensor<i1> {mp.name = "skipped"}, tensor<f32> {mp.name = "lr"}, tensor<f32> {mp.name = "grad_norm"})
// CHECK: mp.seed
// CHECK: %[[G:.*]] = mp.cast %{{.*}} : tensor<4xf16> to tensor<4xf32>
// CHECK: %[[W1:.*]] = mp.sgd %{{.*}}, %[[G]], %{{.*}}
// CHECK: mp.write @w, %[[W1]] : tensor<4xf32>
// CHECK: %[[LOW:.*]] = mp.cast %[[W1]] : tensor<4xf32> to tensor<4xf16>
// CHECK: mp.write @w.f16, %[[LOW]] : tensor<4xf16>
// CHECK: %[[FINITE:.*]] = mp.is_finite %[[LOW]]
// CHECK: %[[BAD:.*]] = mp.not %[[FINITE]]
// CHECK: %[[SKIPPED:.*]] = mp.any %[[BAD]] dims[0] : tensor<4xi1>
// CHECK: mp.write @v.bf16
// CHECK-NOT: mp.is_finite
// CHECK: return %{{.*}}, %[[SKIPPED]], %{{.*}}, %{{.*}}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
