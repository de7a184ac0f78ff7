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
// CHECK-DAG: mp.variable derived @step.magnitude : tensor<f32>
// CHECK: func.func @step() -> (tensor<f32>, tensor<f32> {mp.name = "lr"}, tensor<f32> {mp.name = "grad_norm"}, tensor<i1> {mp.name = "skipped"})
// CHECK: mp.seed
// CHECK: %[[G:.*]] = mp.cast %{{.*}} : tensor<4xf16> to tensor<4xf32>
// CHECK: %[[W1:.*]] = mp.sgd %{{.*}}, %[[G]], %{{.*}}
// CHECK: mp.write @w, %[[W1]] : tensor<4xf32>
// CHECK: %[[LOW:.*]] = mp.cast %[[W1]] : tensor<4xf32> to tensor<4xf16>
// CHECK: mp.write @w.f16, %[[LOW]] : tensor<4xf16>
// CHECK: mp.write @v.bf16

// The bound on the masters comes from the one before and the gradient's norm; only if it
// is not below 65504 do copies count, and measures replace bounds.
// CHECK: %[[NORM:.*]] = mp.sqrt
// CHECK: %[[BOUND:.*]] = mp.read @step.magnitude : tensor<f32>
// CHECK: mp.add %[[BOUND]], %{{.*}} : tensor<f32>, tensor<f32>
// CHECK: %[[LIMIT:.*]] = mp.constant dense<6.550400e+04> : tensor<f32>
// CHECK-NEXT: %[[FITS:.*]] = mp.compare lt %[[NEXT:.*]], %[[LIMIT]]
// CHECK-NEXT: %[[IS:.*]] = mp.is_finite %[[NORM]]
// CHECK-NEXT: %[[PROVEN:.*]] = mp.and %[[FITS]], %[[IS]]
// CHECK-NEXT: %[[OPEN:.*]] = mp.not %[[PROVEN]]
// CHECK-NEXT: %[[FINITE:.*]] = mp.is_finite %[[LOW]]
// CHECK-NEXT: %[[BAD:.*]] = mp.not %[[FINITE]]
// CHECK-NEXT: %[[ANY:.*]] = mp.any %[[BAD]] dims[0] : tensor<4xi1>
// CHECK-NEXT: %[[SKIPPED:.*]] = mp.and %[[OPEN]], %[[ANY]]
// CHECK-NEXT: %[[ABS:.*]] = mp.abs %[[W1]]
// CHECK-NEXT: %[[MOST:.*]] = mp.max %[[ABS]] dims[0]
// CHECK-NEXT: %[[AFTER:.*]] = mp.select %[[OPEN]], %[[MOST]], %[[NEXT]]
// CHECK-NEXT: mp.write @step.magnitude, %[[AFTER]]
// CHECK-NOT: mp.is_finite
// CHECK: return %{{.*}}, %{{.*}}, %[[NORM]], %[[SKIPPED]]

// CHECK: func.func @derive()
// CHECK: mp.write @w.f16
// CHECK: mp.write @v.bf16
// CHECK: %[[W:.*]] = mp.read @w :
// CHECK: %[[ABSW:.*]] = mp.abs %[[W]]
// CHECK: %[[MOSTW:.*]] = mp.max %[[ABSW]] dims[0]
// CHECK: mp.write @step.magnitude, %[[MOSTW]]
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
