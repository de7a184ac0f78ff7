// RUN: mp-opt %s -mp-expose-values=gradients=true -verify-diagnostics -split-input-file

// expected-error@+1 {{'func.func' op has control flow, whose values are not returned}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
^unreachable:
  return %x : tensor<4xf32>
}

// -----

mp.variable @w : tensor<4xf32> = #mp.init<ones>
func.func @f() -> tensor<f32> {
  %w = mp.read @w : tensor<4xf32>
  // expected-error@+1 {{has no gradient: its result is zero or one}}
  %y = mp.bernoulli %w stream(0) : tensor<4xf32>
  %l = mp.sum %y dims[0] : tensor<4xf32>
  return %l : tensor<f32>
}
mp.train @step of @f {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0>}
}

// -----

mp.variable @w : tensor<4xf32> = #mp.init<ones>
func.func @f(%x: tensor<?xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4xf32>
  // expected-error@+1 {{has a '?'}}
  %y = mp.sum %x dims[0] : tensor<?xf32>
  return %y : tensor<f32>
}
mp.train @step of @f {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0>}
}

// -----

func.func @region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{mp-autocast has to take the region away first}}
  %y = mp.autocast enabled(false) {
    %e = mp.exp %x : tensor<4xf32>
    mp.yield %e : tensor<4xf32>
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}
