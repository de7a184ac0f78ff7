// RUN: mp-opt %s -mp-loss-scale -verify-diagnostics -split-input-file

func.func private @loss() -> tensor<f32>
mp.scaler @scaler
// expected-error@+1 {{has no step yet: run mp-autodiff before mp-loss-scale}}
mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

// 65536 is infinite in f16.
func.func private @loss() -> tensor<f16>
func.func @step() -> tensor<f16> {
  // expected-error@+1 {{the loss is 'f16', in which the scaled loss would overflow: compute it in f32, with {mp.autocast = "f32"} on its op or by a cast}}
  %0 = mp.seed : tensor<f16>
  return %0 : tensor<f16>
}
mp.scaler @scaler
mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{'func.func' op has no mp.seed, where backward begins}}
func.func @step() {
  return
}
mp.scaler @scaler
mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{'func.func' op is split already: run mp-loss-scale before mp-accumulate}}
func.func @step() attributes {mp.phase = "apply"} {
  return
}
mp.scaler @scaler
mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

// One of two losses is f16.
func.func private @loss() -> tensor<f32>
func.func @step() -> (tensor<f32>, tensor<f16>) {
  %0 = mp.seed : tensor<f32>
  // expected-error@+1 {{the loss is 'f16', in which the scaled loss would overflow: compute it in f32, with {mp.autocast = "f32"} on its op or by a cast}}
  %1 = mp.seed : tensor<f16>
  return %0, %1 : tensor<f32>, tensor<f16>
}
mp.scaler @scaler
mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
// expected-error@+1 {{is clipped already, which is for unscaled gradients: run mp-loss-scale before mp-clip-gradients}}
func.func @step() -> (tensor<f32> {mp.gradient = @w}, tensor<f32> {mp.name = "grad_norm"}) {
  %0 = mp.seed : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
mp.scaler @scaler
mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }
