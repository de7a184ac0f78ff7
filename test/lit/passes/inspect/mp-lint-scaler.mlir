// RUN: mp-opt %s -mp-lint -verify-diagnostics -split-input-file -o /dev/null

mp.variable @w : tensor<4x8xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x8xf32> // expected-note {{the first f16 that a gradient passes}}
  %y = mp.linear %x, %w : tensor<?x8xf32>, tensor<4x8xf32>
  %l = mp.mean %y dims[0, 1] : tensor<?x4xf32>
  return %l : tensor<f32>
}
// expected-warning@+1 {{trains in f16 without a loss scaler, so that small gradients become zero: write mp.scaler @scaler, and scaler(@scaler) here; with {enabled = false} where none is wanted [f16-without-scaler]}}
mp.train @half of @loss autocast(<dtype = f16>) { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.train @brain of @loss autocast(<dtype = bf16>) { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.train @full of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.scaler @off {enabled = false}
mp.train @unscaled of @loss autocast(<dtype = f16>) scaler(@off) { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.scaler @on
mp.train @scaled of @loss autocast(<dtype = f16>) scaler(@on) { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

// f16 by hand; if no gradient passes it, it does no harm.
mp.variable @w : tensor<4x8xf32> = #mp.init<zeros>
func.func @by_hand(%x: tensor<8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x8xf32>
  %h = mp.cast %w : tensor<4x8xf32> to tensor<4x8xf16> // expected-note {{the first f16}}
  %f = mp.cast %h : tensor<4x8xf16> to tensor<4x8xf32>
  %l = mp.mean %f dims[0, 1] : tensor<4x8xf32>
  return %l : tensor<f32>
}
func.func @beside(%x: tensor<8xf16>) -> (tensor<f32>, tensor<f16>) {
  %w = mp.read @w : tensor<4x8xf32>
  %f = mp.cast %x : tensor<8xf16> to tensor<8xf32>
  %y = mp.mul %w, %f : tensor<4x8xf32>, tensor<8xf32>
  %l = mp.mean %y dims[0, 1] : tensor<4x8xf32>
  %metric = mp.cast %l : tensor<f32> to tensor<f16>
  return %l, %metric : tensor<f32>, tensor<f16>
}
mp.train @one of @by_hand { mp.minimize result(0) {optimizer = #mp.sgd} } // expected-warning {{[f16-without-scaler]}}
mp.train @other of @beside { mp.minimize result(0) {optimizer = #mp.sgd} }
