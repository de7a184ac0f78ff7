// RUN: mp-opt %s -mp-autodiff -verify-diagnostics -split-input-file

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %0 = mp.read @w : tensor<4xf32>
  // expected-error@+1 {{'arith.addf' op has no gradient: it is not an op of the mp dialect}}
  %1 = arith.addf %0, %0 : tensor<4xf32>
  %2 = mp.sum %1 dims[0] : tensor<4xf32>
  return %2 : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %0 = mp.read @w : tensor<4xf32>
  %scale = mp.constant dense<1.0> : tensor<f32>
  // expected-error@+1 {{'mp.unscale_and_check' op has no gradient: it is the end of backward}}
  %1, %bad = mp.unscale_and_check %0, %scale : tensor<4xf32>, tensor<f32>
  %2 = mp.sum %1 dims[0] : tensor<4xf32>
  return %2 : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x4xf32>) -> tensor<f32> {
  %0 = mp.read @w : tensor<4xf32>
  // expected-error@+1 {{'mp.mul' op 'tensor<?x4xf32>' has a '?': run mp-specialize before mp-autodiff}}
  %1 = mp.mul %x, %0 : tensor<?x4xf32>, tensor<4xf32>
  %2 = mp.mean %1 dims[0, 1] : tensor<?x4xf32>
  return %2 : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
// expected-error@+1 {{'func.func' op evaluates, and is not differentiated: run mp-set-mode{mode=train}}}
func.func @loss() -> tensor<f32> attributes {mp.mode = "eval"} {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
// expected-error@+1 {{'func.func' op is to be differentiated as @step, which exists}}
func.func @loss() -> tensor<f32> {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
}
// expected-note@+1 {{here}}
func.func private @step()
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
// expected-error@+1 {{'func.func' op must have one block to be differentiated}}
func.func @loss() -> tensor<f32> {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
^other:
  %1 = mp.read @w : tensor<f32>
  return %1 : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @fc.weight : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %0 = mp.read @fc.weight : tensor<f32>
  return %0 : tensor<f32>
}
mp.train @step of @loss {
  // expected-error@+1 {{pattern "fc.wieght" matches no parameter; did you mean fc.weight?}}
  mp.minimize result(0) {params = ["fc.wieght"], optimizer = #mp.sgd}
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
}
mp.train @step of @loss {
  // expected-error@+1 {{pattern "bias*" matches no parameter}}
  mp.minimize result(0) {params = ["*", "!bias*"], optimizer = #mp.sgd}
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
}
mp.train @step of @loss {
  // expected-error@+1 {{pattern "[w": invalid glob pattern, unmatched '['}}
  mp.minimize result(0) {params = ["[w"], optimizer = #mp.sgd}
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %0 = mp.read @w : tensor<f32>
  return %0 : tensor<f32>
}
mp.train @step of @loss {
  // expected-note@+1 {{the other group}}
  mp.minimize result(0) {params = ["w"], optimizer = #mp.sgd}
  // expected-error@+1 {{claims @w, which another group has}}
  mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw}
}

// -----

// Each loss needs a parameter of its own group.
mp.variable @w : tensor<f32> = #mp.init<zeros>
mp.variable @v : tensor<f32> = #mp.init<zeros>
func.func @loss() -> (tensor<f32>, tensor<f32>) {
  %0 = mp.read @w : tensor<f32>
  // expected-warning@+1 {{parameter @v does not reach the loss}}
  %1 = mp.read @v : tensor<f32>
  return %1, %0 : tensor<f32>, tensor<f32>
}
// expected-error@+1 {{'mp.train' op has nothing to train: no parameter reaches result 1 of @loss}}
mp.train @step of @loss {
  mp.minimize result(1) {params = ["v"], optimizer = #mp.sgd}
  mp.minimize result(0) {params = ["w"], optimizer = #mp.sgd}
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  // expected-warning@+1 {{parameter @w does not reach the loss}}
  %0 = mp.read @w : tensor<f32>
  %1 = mp.stop_gradient %0 : tensor<f32>
  return %1 : tensor<f32>
}
// expected-error@+1 {{'mp.train' op has nothing to train: no parameter reaches result 0 of @loss}}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func private @net(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @loss() -> tensor<f32> {
  %0 = mp.read @w : tensor<f32>
  // expected-error@+1 {{'func.call' op is not differentiable: run mp-inline before mp-autodiff}}
  %1 = call @net(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
