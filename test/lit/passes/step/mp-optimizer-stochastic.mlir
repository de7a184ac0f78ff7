// RUN: mp-opt %s -split-input-file -mp-autodiff -mp-master-weights -mp-optimizer -verify-diagnostics | FileCheck %s

// A bf16 parameter whose group rounds stochastically has no master: the update is f32
// between its widening and its rounding, and the slots are f32. Others have one.
// CHECK-DAG: mp.variable @w : tensor<4xbf16>
// CHECK-DAG: mp.variable @v : tensor<4xf32>
// CHECK-DAG: mp.variable derived @v.bf16 : tensor<4xbf16> from @v
// CHECK-DAG: mp.variable slot @w.exp_avg : tensor<4xf32>
mp.variable @w : tensor<4xbf16> = #mp.init<zeros>
mp.variable @v : tensor<4xbf16> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %w = mp.read @w : tensor<4xbf16>
  %v = mp.read @v : tensor<4xbf16>
  %0 = mp.mul %w, %v : tensor<4xbf16>, tensor<4xbf16>
  %1 = mp.cast %0 : tensor<4xbf16> to tensor<4xf32>
  %2 = mp.sum %1 dims[0] : tensor<4xf32>
  return %2 : tensor<f32>
}
// CHECK-LABEL: func.func @step(
// CHECK: mp.read @w : tensor<4xbf16>
// CHECK: %[[OLD:.*]] = mp.read @w : tensor<4xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = mp.cast %[[OLD]] : tensor<4xbf16> to tensor<4xf32>
// CHECK: %[[NEW:.*]], %{{.*}}, %{{.*}} = mp.adamw %[[WIDE]]
// CHECK: %[[LOW:.*]] = mp.stochastic_round %[[NEW]] : tensor<4xf32> to tensor<4xbf16>
// CHECK-NEXT: mp.write @w, %[[LOW]] : tensor<4xbf16>
// CHECK: mp.write @v.bf16
mp.train @step of @loss {
  mp.minimize result(0) {params = ["w"], optimizer = #mp.adamw, stochastic_rounding}
  mp.minimize result(0) {params = ["v"], optimizer = #mp.adamw}
}

// -----

// expected-error@+1 {{is f16, whose range an update may leave: stochastic rounding without a master is for bf16}}
mp.variable @w : tensor<4xf16> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %w = mp.read @w : tensor<4xf16>
  %1 = mp.cast %w : tensor<4xf16> to tensor<4xf32>
  %2 = mp.sum %1 dims[0] : tensor<4xf32>
  return %2 : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd, stochastic_rounding} }
