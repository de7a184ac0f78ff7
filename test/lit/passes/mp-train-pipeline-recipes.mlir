// RUN: mp-opt %s -mp-train-pipeline | FileCheck %s
// RUN: mp-translate --mp-to-program --mp-batch=4 --mp-function=critic %s | FileCheck %s --check-prefix=CRITIC
// RUN: not mp-translate --mp-to-program %s 2>&1 | FileCheck %s --check-prefix=WHICH

// Two recipes share a variable, which one of them trains, and a scaler; a third
// trains the same as the first, and shares its optimizer's state.
// CHECK-COUNT-1: mp.variable scaler @scaler.scale
// CHECK-NOT: mp.variable scaler @scaler.scale
// CHECK-COUNT-1: mp.variable slot @c.momentum_buffer
// CHECK-NOT: mp.variable slot @c.momentum_buffer
mp.variable @c : tensor<4xf32> = #mp.init<ones>
mp.variable @m : tensor<4xf32> = #mp.init<ones>
mp.scaler @scaler

func.func @critic_loss(%x: tensor<4xf32>) -> (tensor<f32> {mp.name = "loss"}) {
  %c = mp.read @c : tensor<4xf32>
  %0 = mp.mul %x, %c : tensor<4xf32>, tensor<4xf32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}
func.func @maker_loss(%x: tensor<4xf32>) -> (tensor<f32> {mp.name = "loss"}) {
  %c = mp.read @c : tensor<4xf32>
  %m = mp.read @m : tensor<4xf32>
  %0 = mp.mul %c, %m : tensor<4xf32>, tensor<4xf32>
  %1 = mp.mul %0, %x : tensor<4xf32>, tensor<4xf32>
  %2 = mp.sum %1 dims[0] : tensor<4xf32>
  return %2 : tensor<f32>
}

// CHECK-LABEL: func.func @critic(
// CHECK-DAG: mp.write @c, %{{.*}} if
// CHECK-DAG: mp.write @scaler.scale, %{{[^ ]*}} : tensor<f32>
// CHECK-DAG: mp.write @critic.applied
mp.train @critic of @critic_loss scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-2, momentum = 9.0e-1>}
}
mp.train @again of @critic_loss scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-3, momentum = 9.0e-1>}
}

// CHECK-LABEL: func.func @maker.accumulate(
// CHECK-LABEL: func.func @maker(
// CHECK-NOT: mp.write @c,
// CHECK-DAG: mp.write @m, %{{.*}} if
// CHECK-DAG: mp.write @scaler.scale, %{{[^ ]*}} : tensor<f32>
mp.train @maker of @maker_loss scaler(@scaler) accumulate(2) {
  mp.minimize result(0) {params = ["m"], optimizer = #mp.adamw<lr = 1.0e-3>}
}

// CRITIC: variable scaler.scale scaler f32
// CRITIC-NOT: variable m.exp_avg
// CRITIC: entry step
// WHICH: the module has more than one recipe (mp.train): name one of critic, again, maker
