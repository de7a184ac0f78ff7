// RUN: mp-opt %s -mp-loss-scale -verify-diagnostics -split-input-file

func.func private @loss() -> tensor<f32>
mp.scaler @scaler
// expected-error@+1 {{has no step yet: run mp-autodiff before mp-loss-scale}}
mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

// 65536 is infinite in f16.
func.func private @loss() -> tensor<f16>
// expected-error@+1 {{'func.func' op its loss is 'f16', in which the scaled loss would overflow: cast it to f32}}
func.func @step() -> tensor<f16> {
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
// expected-error@+1 {{'func.func' op its loss is 'f16', in which the scaled loss would overflow: cast it to f32}}
func.func @step() -> (tensor<f32>, tensor<f16>) {
  %0 = mp.seed : tensor<f32>
  %1 = mp.seed : tensor<f16>
  return %0, %1 : tensor<f32>, tensor<f16>
}
mp.scaler @scaler
mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }
