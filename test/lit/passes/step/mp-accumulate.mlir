// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-accumulate=rows=16 -verify-diagnostics | FileCheck %s
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-accumulate=accumulate=1 | FileCheck %s --check-prefix=NONE
// RUN: mp-opt %s -mp-train-pipeline | FileCheck %s --check-prefix=STEP

// The variables of a window; none of them is saved.
// CHECK-DAG: mp.variable window @step.micro : tensor<i64> = #mp.init<zeros>
// CHECK-DAG: mp.variable window @step.rows : tensor<f32> = #mp.init<zeros>
// CHECK-DAG: mp.variable window @step.found_inf : tensor<i1> = #mp.init<zeros>
// CHECK-DAG: mp.variable window @step.gradient.w : tensor<4xf32> = #mp.init<zeros>
// CHECK-DAG: mp.variable window @step.staged.mean : tensor<f32> = #mp.init<zeros>
// CHECK-DAG: mp.variable window @step.mean.0 : tensor<f32> = #mp.init<zeros>
mp.variable @w : tensor<4xf16> = #mp.init<ones>
mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>
mp.scaler @scaler

func.func @loss(%x: tensor<4xf16> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}, tensor<4xf16>) {
  %w = mp.read @w : tensor<4xf16>
  %y = mp.mul %x, %w : tensor<4xf16>, tensor<4xf16>
  %wide = mp.cast %y : tensor<4xf16> to tensor<4xf32>
  %l = mp.sum %wide dims[0] : tensor<4xf32>
  %old = mp.read @mean : tensor<f32>
  %new = mp.add %old, %l : tensor<f32>, tensor<f32>
  mp.write @mean, %new : tensor<f32>
  return %l, %y : tensor<f32>, tensor<4xf16>
}

// CHECK-LABEL: func.func @step.accumulate(
// CHECK-SAME: %[[X:.*]]: tensor<4xf16> {mp.name = "x"}) -> (tensor<i1> {mp.name = "skipped"}) attributes {mp.phase = "accumulate"}
// CHECK: %[[MICRO:.*]] = mp.read @step.micro : tensor<i64>
// CHECK: %[[FIRST:.*]] = mp.compare eq %[[MICRO]]

// A micro-batch finds the values that the one before left, and the first one the variable's.
// CHECK-DAG: %[[MEAN:.*]] = mp.read @mean
// CHECK-DAG: %[[STAGED:.*]] = mp.read @step.staged.mean
// CHECK: %[[OLD:.*]] = mp.select %[[FIRST]], %[[MEAN]], %[[STAGED]]
// CHECK: %[[SUM:.*]] = mp.read @step.gradient.w
// CHECK: %[[NEW:.*]] = mp.add %[[OLD]]

// Gradients are checked one by one, and added up unscaled, times their rows.
// CHECK: %[[G:.*]], %[[BAD:.*]] = mp.unscale_and_check
// CHECK-NOT: mp.update_scale
// CHECK: mp.write @step.micro
// CHECK: mp.write @step.rows
// CHECK: %[[FLAG:.*]] = mp.or %[[BAD]]
// CHECK: mp.write @step.found_inf, %[[FLAG]]
// CHECK: mp.write @step.staged.mean, %[[NEW]]
// CHECK: mp.write @step.mean.0
// CHECK: %[[ROWS:.*]] = mp.constant dense<1.600000e+01> : tensor<f32>
// CHECK: %[[PART:.*]] = mp.mul %[[G]], %[[ROWS]]
// CHECK: %[[KEPT:.*]] = mp.select %[[FIRST]], %{{.*}}, %[[SUM]]
// CHECK: %[[TOTAL:.*]] = mp.add %[[KEPT]], %[[PART]]
// CHECK: mp.write @step.gradient.w, %[[TOTAL]]
// CHECK-NOT: mp.write
// CHECK: return %[[FLAG]]

// Later passes find a step; results that are not single numbers are dropped.
// CHECK-LABEL: func.func @step() -> (tensor<f32> {mp.name = "loss"}, tensor<4xf32> {mp.gradient = @w}, tensor<f32> {mp.name = "scale"}, tensor<i1> {mp.name = "skipped"}) attributes {mp.phase = "apply"}
// CHECK: mp.write @step.micro
// CHECK: %[[ROWS:.*]] = mp.read @step.rows
// CHECK: %[[FLAG:.*]] = mp.read @step.found_inf
// CHECK: mp.write @mean
// CHECK: %[[K1:[^ ]*]], %{{[^ ]*}}, %{{.*}} = mp.update_scale %[[K:.*]], %{{.*}}, %[[FLAG]]
// CHECK: mp.write @scaler.scale, %[[K1]]
// CHECK: %[[SUM:.*]] = mp.read @step.mean.0
// CHECK: %[[LOSS:.*]] = mp.div %[[SUM]], %[[ROWS]]
// CHECK: %[[SUM:.*]] = mp.read @step.gradient.w
// CHECK: %[[G:.*]] = mp.div %[[SUM]], %[[ROWS]]
// CHECK: return %[[LOSS]], %[[G]], %[[K]], %[[FLAG]]

// NONE-NOT: accumulate{{$}}
// NONE-NOT: mp.variable window

// The whole pipeline keeps the protocol; committed writes are guarded.
// STEP-LABEL: func.func @step.accumulate(
// STEP-NOT: mp.write @{{w|mean|scaler}}
// STEP-LABEL: func.func @step()
// STEP-DAG: mp.write @mean, %{{.*}} if
// STEP-DAG: mp.write @w, %{{.*}} if
// STEP-DAG: mp.write @scaler.scale, %{{[^ ]*}} : tensor<f32>
// STEP-DAG: mp.write @step.micro, %{{[^ ]*}} : tensor<i64>

mp.train @step of @loss scaler(@scaler) accumulate(4) {
  mp.minimize result(0) {optimizer = #mp.sgd}
}
