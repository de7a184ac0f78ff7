// RUN: mp-opt %s -mp-optimizer -verify-diagnostics -split-input-file

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{has no step yet: run mp-autodiff before mp-optimizer}}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

// expected-error@+1 {{is 'f16' and has no f32 master weights, without which small updates vanish: run mp-master-weights before mp-optimizer}}
mp.variable @w : tensor<f16> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
func.func @step() -> (tensor<f16> {mp.gradient = @w}) {
  %0 = mp.read @w : tensor<f16>
  return %0 : tensor<f16>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
// expected-error@+1 {{'func.func' op returns a gradient of @v, which is not a parameter of the recipe}}
func.func @step() -> (tensor<f32> {mp.gradient = @v}) {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
func.func @step() -> (tensor<f32> {mp.gradient = @w}) {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
}
mp.train @step of @loss {
  // expected-error@+1 {{a linear schedule needs a length: give it `steps`, or the run `total-steps`}}
  mp.minimize result(0) {optimizer = #mp.sgd, schedule = #mp.linear}
}

// -----

func.func private @loss() -> tensor<f32>
func.func private @step() -> tensor<f32>
// expected-error@+1 {{has no step yet: run mp-autodiff before mp-optimizer}}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
// expected-error@+1 {{'func.func' op returns 'tensor<4xf32>' as the gradient of @w, which is 'tensor<f32>'}}
func.func @step() -> (tensor<4xf32> {mp.gradient = @w}) {
  %0 = mp.read @w : tensor<f32>
  %1 = mp.broadcast %0 : tensor<f32> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
func.func @step() -> (tensor<f32> {mp.gradient = @w}) {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
}
// expected-error@+1 {{clips gradients: run mp-clip-gradients before mp-optimizer}}
mp.train @step of @loss attributes {clip_value = 1.0} { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
func.func @step() -> (tensor<f32> {mp.gradient = @w}) {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
}
mp.train @step of @loss {
  // expected-note@+1 {{the other group}}
  mp.minimize result(0) {params = ["w"], optimizer = #mp.sgd}
  // expected-error@+1 {{claims @w, which another group has}}
  mp.minimize result(0) {params = ["*"], optimizer = #mp.adam}
}
