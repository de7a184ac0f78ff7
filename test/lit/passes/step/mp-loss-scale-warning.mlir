// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -verify-diagnostics -o /dev/null
// RUN: mp-opt %s -mp-train-pipeline -verify-diagnostics -o /dev/null
// RUN: mp-opt %s -mp-train-pipeline=scaler=none 2>&1 | FileCheck %s
// RUN: mp-opt %s -mp-train-pipeline=precision=bf16 2>&1 | FileCheck %s
// RUN: mp-opt %s -mp-train-pipeline=precision=fp16 2>&1 | FileCheck %s

// There is no warning if a scaler, a precision or "none" was chosen.
// CHECK-NOT: warning
// CHECK: func.func

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %w = mp.read @w : tensor<f32>
  return %w : tensor<f32>
}
// expected-warning@+1 {{trains in f16 without a loss scaler, so that small gradients become zero: write mp.scaler @scaler, and scaler(@scaler) here; with {enabled = false} where none is wanted}}
mp.train @half of @loss autocast(<dtype = f16>) { mp.minimize result(0) {optimizer = #mp.sgd} }

mp.train @brain of @loss autocast(<dtype = bf16>) { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.train @full of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.scaler @off {enabled = false}
mp.train @unscaled of @loss autocast(<dtype = f16>) scaler(@off) { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.scaler @on
mp.train @scaled of @loss autocast(<dtype = f16>) scaler(@on) { mp.minimize result(0) {optimizer = #mp.sgd} }
