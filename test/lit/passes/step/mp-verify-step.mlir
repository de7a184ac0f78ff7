// RUN: mp-opt %s -mp-verify-step | FileCheck %s

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
mp.variable scaler @k : tensor<f32> = #mp.init<zeros>

// The protocol is kept: scale, unscale and check, guard by the flag. Nothing is changed.
// CHECK-LABEL: @step
func.func @step(%x: tensor<4xf32>, %more: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  %k = mp.read @k : tensor<f32>
  // CHECK: mp.scale
  %s = mp.scale %x, %k : tensor<4xf32>, tensor<f32>
  %g, %bad = mp.unscale_and_check %s, %k : tensor<4xf32>, tensor<f32>
  %skipped = mp.or %bad, %more : tensor<i1>, tensor<i1>
  %ok = mp.not %skipped : tensor<i1>
  // CHECK: mp.write @w, %{{.*}} if
  mp.write @w, %g if %ok : tensor<4xf32>
  mp.write @k, %k : tensor<f32>
  return %skipped : tensor<i1>
}

// The flag may be the negation of the guard as well.
// CHECK-LABEL: @negated
func.func @negated(%x: tensor<4xf32>, %ok: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  %skipped = mp.not %ok : tensor<i1>
  mp.write @w, %x if %ok : tensor<4xf32>
  return %skipped : tensor<i1>
}

// CHECK: func.func private @declared
func.func private @declared()
