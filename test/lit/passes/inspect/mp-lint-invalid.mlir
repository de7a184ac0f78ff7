// RUN: not mp-opt %s -mp-lint="disable=sum-overflow,softmax" 2>&1 | FileCheck %s --check-prefix=CHECK-NAME
// RUN: not mp-opt %s -mp-lint="magnitude=-1" 2>&1 | FileCheck %s --check-prefix=MAGNITUDE
// RUN: not mp-opt %s -mp-lint="dtype=f16 policy=teras" 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not mp-opt %s -mp-lint="batch=-2" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not mp-opt %s -mp-lint 2>&1 | FileCheck %s --check-prefix=PATTERN

// CHECK-NAME: error: unknown check "softmax", expected one of f16-without-scaler, no-master-weight, lost-constant, lost-epsilon, sum-overflow, exp-overflow, softmax-without-max, cut-gradient
// MAGNITUDE: error: magnitude is -1{{.*}}, expected a positive number
// POLICY: error: {{.*}}teras
// BATCH: error: batch is -2, expected a positive number
// PATTERN: error: {{.*}} pattern "v" matches no parameter
mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %w = mp.read @w : tensor<f32>
  return %w : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {params = ["v"], optimizer = #mp.sgd} }
