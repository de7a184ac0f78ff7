// RUN: mp-opt %s -mp-autodiff -mp-master-weights -mp-optimizer | FileCheck %s

// Each optimizer has bounds of its own; a parameter without an f16 copy needs none.
// CHECK-DAG: mp.variable derived @step.magnitude : tensor<f32>
// CHECK-DAG: mp.variable derived @step.momentum_magnitude : tensor<f32>
// CHECK-DAG: mp.variable derived @step.2.magnitude : tensor<f32>
// CHECK-DAG: mp.variable derived @step.2.moment_ratio : tensor<f32>
// CHECK-NOT: @step.3
mp.variable @v : tensor<4xf16> = #mp.init<zeros>
mp.variable @w : tensor<4xf16> = #mp.init<zeros>
mp.variable @x : tensor<4xf32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %v = mp.read @v : tensor<4xf16>
  %w = mp.read @w : tensor<4xf16>
  %x = mp.read @x : tensor<4xf32>
  %0 = mp.mul %v, %w : tensor<4xf16>, tensor<4xf16>
  %1 = mp.cast %0 : tensor<4xf16> to tensor<4xf32>
  %2 = mp.mul %1, %x : tensor<4xf32>, tensor<4xf32>
  %3 = mp.sum %2 dims[0] : tensor<4xf32>
  return %3 : tensor<f32>
}
// The checks are independent. Each is for its own optimizer, whose bound comes from its own
// gradients.
// CHECK-LABEL: func.func @step()
// CHECK: mp.seed
// CHECK: %[[SV:.*]] = mp.sum
// CHECK: %[[SW:.*]] = mp.sum
// CHECK: %[[SX:.*]] = mp.sum
// CHECK: %[[NORM:.*]] = mp.sqrt %[[SV]]
// CHECK: mp.is_finite %[[NORM]]
// CHECK: %[[OPEN:.*]] = mp.not
// CHECK: %[[ANY:.*]] = mp.any
// CHECK: %[[FIRST:.*]] = mp.and %[[OPEN]], %[[ANY]]
// CHECK: %[[SUM:.*]] = mp.add %[[SW]], %[[SX]]
// CHECK: %[[NORM2:.*]] = mp.sqrt %[[SUM]]
// CHECK: mp.is_finite %[[NORM2]]
// CHECK: %[[OPEN2:.*]] = mp.not
// CHECK: %[[ANY2:.*]] = mp.any
// CHECK: %[[SECOND:.*]] = mp.and %[[OPEN2]], %[[ANY2]]
// CHECK: %[[SKIPPED:.*]] = mp.or %[[FIRST]], %[[SECOND]]
// CHECK: %[[OK:.*]] = mp.not %[[FIRST]]
// CHECK: mp.write @v.f16, %{{.*}} if %[[OK]]
// CHECK: mp.write @step.magnitude, %{{.*}} if %[[OK]]
// CHECK: mp.write @step.momentum_magnitude, %{{.*}} if %[[OK]]
// CHECK: %[[OK2:.*]] = mp.not %[[SECOND]]
// CHECK: mp.write @w.f16, %{{.*}} if %[[OK2]]
// CHECK: mp.write @x, %{{.*}} if %[[OK2]]
// CHECK: mp.write @step.2.moment_ratio, %{{.*}} if %[[OK2]]
// CHECK: return {{.*}}, %[[SKIPPED]], %[[FIRST]], %[[SECOND]] :
mp.train @step of @loss {
  mp.minimize result(0) {params = ["v"], optimizer = #mp.sgd<momentum = 0.9>}
  mp.minimize result(0) {params = ["w"], optimizer = #mp.adamw}
  mp.minimize result(0) {params = ["x"], optimizer = #mp.adamw}
}
