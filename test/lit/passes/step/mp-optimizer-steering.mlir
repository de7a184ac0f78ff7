// The learning rate as variables of the step, and a gradient among its results.
// RUN: mp-opt %s --mp-autodiff --mp-optimizer="steer-learning-rate gradients=w" | FileCheck %s
// RUN: not mp-opt %s --mp-autodiff --mp-optimizer=gradients=v 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK-DAG: mp.variable slot @step.lr : tensor<f32> = #mp.init<constant, value = -1>
// CHECK-DAG: mp.variable slot @step.lr_factor : tensor<f32> = #mp.init<constant, value = 1>
// CHECK: func.func @step
// CHECK-SAME: {mp.name = "grad:w"}
// CHECK:      %[[LR:.*]] = mp.read @step.lr :
// CHECK:      %[[GIVEN:.*]] = mp.compare ge %[[LR]],
// CHECK:      %[[RATE:.*]] = mp.select %[[GIVEN]], %[[LR]],
// CHECK:      %[[FACTOR:.*]] = mp.read @step.lr_factor :
// CHECK:      %[[STEERED:.*]] = mp.mul %[[RATE]], %[[FACTOR]]
// CHECK:      mp.sgd{{.*}} %[[STEERED]],
// No step writes them.
// CHECK-NOT:  mp.write @step.lr

// UNKNOWN: error: 'mp.train' op trains no parameter 'v' whose gradient to return (known: 'w')

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<4xf32>) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<4xf32>
  %p = mp.mul %w, %x : tensor<4xf32>, tensor<4xf32>
  %l = mp.sum %p dims[0] : tensor<4xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 0.1>}
}
