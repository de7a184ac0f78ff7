// RUN: mp-opt %s -mp-autodiff | FileCheck %s
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale | FileCheck %s --check-prefix=SCALE
// RUN: mp-opt %s -mp-train-pipeline | FileCheck %s --check-prefix=STEP

// Two losses of one graph: each is differentiated by the parameters of its own
// group, although both depend on both.
mp.variable @critic.w : tensor<4xf32> = #mp.init<ones>
mp.variable @maker.w : tensor<4xf32> = #mp.init<ones>
mp.scaler @scaler

func.func @losses(%z: tensor<4xf32>) -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "maker_loss"}) {
  %m = mp.read @maker.w : tensor<4xf32>
  %c = mp.read @critic.w : tensor<4xf32>
  %made = mp.mul %z, %m : tensor<4xf32>, tensor<4xf32>
  %scores = mp.mul %made, %c : tensor<4xf32>, tensor<4xf32>
  %score = mp.sum %scores dims[0] : tensor<4xf32>
  %neg = mp.neg %score : tensor<f32>
  return %score, %neg : tensor<f32>, tensor<f32>
}

// The first loss stops at the critic's input; the second goes on.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[Z:.*]]: tensor<4xf32>
// CHECK-SAME: tensor<4xf32> {mp.gradient = @critic.w}, tensor<4xf32> {mp.gradient = @maker.w})
// CHECK: %[[MADE:.*]] = mp.mul %[[Z]], %{{.*}}
// CHECK: mp.neg
// CHECK: %[[S0:.*]] = mp.seed : tensor<f32>
// CHECK-NEXT: %[[B0:.*]] = mp.broadcast %[[S0]]
// CHECK-NEXT: %[[GC:.*]] = mp.mul %[[B0]], %[[MADE]]
// CHECK-NEXT: %[[S1:.*]] = mp.seed : tensor<f32>
// CHECK-NEXT: mp.neg %[[S1]]
// CHECK: %[[GM:.*]] = mp.mul %{{.*}}, %[[Z]]
// CHECK: return %{{.*}}, %{{.*}}, %[[GC]], %[[GM]]

// There is one scale for both, one update, a flag of each and one of both.
// SCALE: -> ({{.*}}{mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.0"}, tensor<i1> {mp.name = "skipped.1"})
// SCALE: %[[K:.*]] = mp.read @scaler.scale
// SCALE: %[[S0:.*]] = mp.seed
// SCALE-NEXT: mp.scale %[[S0]], %[[K]]
// SCALE: %[[S1:.*]] = mp.seed
// SCALE-NEXT: mp.scale %[[S1]], %[[K]]
// SCALE: %{{.*}}, %[[BAD0:.*]] = mp.unscale_and_check %{{.*}}, %[[K]]
// SCALE-NEXT: %{{.*}}, %[[BAD1:.*]] = mp.unscale_and_check %{{.*}}, %[[K]]
// SCALE-NEXT: %[[BAD:.*]] = mp.or %[[BAD0]], %[[BAD1]]
// SCALE: mp.update_scale %[[K]], %{{.*}}, %[[BAD]]
// SCALE-NOT: mp.update_scale
// SCALE: return {{.*}}, %[[BAD]], %[[BAD0]], %[[BAD1]] :

// Each group has its optimizer.
// STEP-LABEL: func.func @step(
// STEP-DAG: mp.write @critic.w.momentum_buffer, %{{.*}} if
// STEP-DAG: mp.write @critic.w, %{{.*}} if
// STEP-DAG: mp.write @maker.w.exp_avg, %{{.*}} if
// STEP-DAG: mp.write @maker.w, %{{.*}} if

mp.train @step of @losses scaler(@scaler) {
  mp.minimize result(0) {params = ["critic.*"], optimizer = #mp.sgd<lr = 1.0e-2, momentum = 9.0e-1>}
  mp.minimize result(1) {params = ["maker.*"], optimizer = #mp.adamw<lr = 1.0e-3>}
}
