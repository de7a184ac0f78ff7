// RUN: mp-opt %s --mp-recompute -verify-diagnostics -split-input-file

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{has no step yet: run mp-autodiff before mp-recompute}}
mp.train @step of @loss attributes {recompute = "all"} { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
func.func @step() {
  %0 = mp.seed : tensor<f32>
  return
}
// expected-error@+1 {{"makred" does not say what is kept for backward, expected marked, all or a size such as 64MiB; did you mean marked?}}
mp.train @step of @loss attributes {recompute = "makred"} { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{has values that are computed again already}}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mp.seed : tensor<f32>
  // expected-note@+1 {{the first}}
  %1 = mp.recompute_barrier %x since %0 : tensor<4xf32>, tensor<f32>
  return %1 : tensor<4xf32>
}
mp.train @step of @loss attributes {recompute = "1KiB"} { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{cannot keep 8 bytes or less for backward: it keeps 32, and computing again reaches 16}}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = mp.exp %x : tensor<4xf32>
  %b = mp.exp %a : tensor<4xf32>
  %0 = mp.seed : tensor<f32>
  %1 = mp.mul %b, %0 : tensor<4xf32>, tensor<f32>
  %2 = mp.mul %1, %a : tensor<4xf32>, tensor<4xf32>
  return %2 : tensor<4xf32>
}
mp.train @step of @loss attributes {recompute = "8"} { mp.minimize result(0) {optimizer = #mp.sgd} }
