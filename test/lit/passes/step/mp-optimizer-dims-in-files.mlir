// RUN: mp-opt %s -mp-autodiff -mp-master-weights -mp-optimizer | FileCheck %s
// What an optimizer keeps for a parameter, and its average, lie in files as the parameter does; so does a master.

// CHECK: mp.variable @w : tensor<2x3xf32> dims_in_files[1, 0] = #mp.init<zeros>
// CHECK-NEXT: mp.variable derived @w.f16 : tensor<2x3xf16> from @w
mp.variable @w : tensor<2x3xf16> dims_in_files[1, 0] = #mp.init<zeros>
// CHECK-DAG: mp.variable slot @w.momentum_buffer : tensor<2x3xf32> dims_in_files[1, 0] = #mp.init<zeros> as <slot of @w named "momentum_buffer">
// CHECK-DAG: mp.variable slot @w.ema : tensor<2x3xf32> dims_in_files[1, 0] = #mp.init<zeros> as <average of @w>
func.func @loss(%x: tensor<3xf16>) -> tensor<f16> {
  %w = mp.read @w : tensor<2x3xf16>
  %y = mp.mul %w, %x : tensor<2x3xf16>, tensor<3xf16>
  %loss = mp.sum %y dims [0, 1] : tensor<2x3xf16>
  return %loss : tensor<f16>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1, momentum = 0.9>, ema = 0.5}
}
