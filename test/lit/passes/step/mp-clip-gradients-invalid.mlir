// RUN: mp-opt %s -mp-clip-gradients -verify-diagnostics -split-input-file

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{has no step yet: run mp-autodiff before mp-clip-gradients}}
mp.train @step of @loss attributes {clip_norm = 1.0} { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
func.func @step(%k: tensor<f32>) -> (tensor<f32> {mp.gradient = @w}) {
  %0 = mp.read @w : tensor<f32>
  // expected-note@+1 {{scaled here}}
  %1 = mp.scale %0, %k : tensor<f32>, tensor<f32>
  %2 = mp.neg %1 : tensor<f32>
  return %2 : tensor<f32>
}
mp.train @step of @loss attributes {clip_norm = 1.0} {
  // expected-error@+1 {{clips the gradient of @w, which is still scaled: run mp-loss-scale before mp-clip-gradients}}
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
// expected-error@+1 {{is clipped already}}
func.func @step(%n: tensor<f32>) -> (tensor<f32> {mp.gradient = @w}, tensor<f32> {mp.name = "grad_norm"}) {
  %0 = mp.read @w : tensor<f32>
  return %0, %n : tensor<f32>, tensor<f32>
}
mp.train @step of @loss attributes {clip_norm = 1.0} { mp.minimize result(0) {optimizer = #mp.sgd} }
