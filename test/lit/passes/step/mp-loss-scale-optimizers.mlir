// RUN: mp-opt %s -split-input-file -mp-autodiff -mp-loss-scale | FileCheck %s -enable-var-scope

// Groups that minimise one result with one kind of optimizer are one optimizer: a flag each
// for the SGD of both groups, the AdamW, the one of that name, and SGD of the other result.
mp.variable @a : tensor<4xf32> = #mp.init<ones>
mp.variable @b : tensor<4xf32> = #mp.init<ones>
mp.variable @c : tensor<4xf32> = #mp.init<ones>
mp.variable @d : tensor<4xf32> = #mp.init<ones>
mp.variable @e : tensor<4xf32> = #mp.init<ones>
mp.scaler @scaler
func.func @losses() -> (tensor<f32>, tensor<f32>) {
  %a = mp.read @a : tensor<4xf32>
  %b = mp.read @b : tensor<4xf32>
  %c = mp.read @c : tensor<4xf32>
  %d = mp.read @d : tensor<4xf32>
  %e = mp.read @e : tensor<4xf32>
  %0 = mp.mul %a, %b : tensor<4xf32>, tensor<4xf32>
  %1 = mp.mul %c, %d : tensor<4xf32>, tensor<4xf32>
  %2 = mp.mul %0, %1 : tensor<4xf32>, tensor<4xf32>
  %3 = mp.mul %2, %e : tensor<4xf32>, tensor<4xf32>
  %4 = mp.sum %3 dims[0] : tensor<4xf32>
  %5 = mp.neg %4 : tensor<f32>
  return %4, %5 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func @step(
// CHECK-SAME: {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.0"}, tensor<i1> {mp.name = "skipped.1"}, tensor<i1> {mp.name = "skipped.slow"}, tensor<i1> {mp.name = "skipped.3"})
// CHECK: %{{.*}}, %[[A:.*]] = mp.unscale_and_check
// CHECK: %{{.*}}, %[[B:.*]] = mp.unscale_and_check
// CHECK-NOT: mp.or
// CHECK: %{{.*}}, %[[C:.*]] = mp.unscale_and_check
// CHECK: %[[AC:.*]] = mp.or %[[A]], %[[C]]
// CHECK: %{{.*}}, %[[D:.*]] = mp.unscale_and_check
// CHECK: %{{.*}}, %[[E:.*]] = mp.unscale_and_check
// CHECK: %[[ACB:.*]] = mp.or %[[AC]], %[[B]]
// CHECK: %[[ACBD:.*]] = mp.or %[[ACB]], %[[D]]
// CHECK: %[[ALL:.*]] = mp.or %[[ACBD]], %[[E]]
// CHECK: mp.update_scale %{{.*}}, %{{.*}}, %[[ALL]]
// CHECK: return {{.*}}, %[[ALL]], %[[AC]], %[[B]], %[[D]], %[[E]] :
mp.train @step of @losses scaler(@scaler) {
  mp.minimize result(0) {params = ["a"], optimizer = #mp.sgd<lr = 0.1>}
  mp.minimize result(0) {params = ["b"], optimizer = #mp.adamw}
  mp.minimize result(0) {params = ["c"], optimizer = #mp.sgd<lr = 0.2>}
  mp.minimize result(0) {params = ["d"], optimizer = #mp.sgd<lr = 0.1>, optimizer_name = "slow"}
  mp.minimize result(1) {params = ["e"], optimizer = #mp.sgd<lr = 0.1>}
}

// -----

// One name makes one optimizer, which has no flag beside the step's.
mp.variable @a : tensor<f32> = #mp.init<ones>
mp.variable @b : tensor<f32> = #mp.init<ones>
mp.scaler @scaler
func.func @loss() -> tensor<f32> {
  %a = mp.read @a : tensor<f32>
  %b = mp.read @b : tensor<f32>
  %0 = mp.mul %a, %b : tensor<f32>, tensor<f32>
  return %0 : tensor<f32>
}
// CHECK-LABEL: func.func @step(
// CHECK-SAME: tensor<i1> {mp.name = "skipped"}) {
mp.train @step of @loss scaler(@scaler) {
  mp.minimize result(0) {params = ["a"], optimizer = #mp.sgd, optimizer_name = "all"}
  mp.minimize result(0) {params = ["b"], optimizer = #mp.adamw, optimizer_name = "all"}
}
