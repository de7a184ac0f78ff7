// RUN: mp-opt %s -split-input-file -verify-diagnostics -mp-set-mode=mode=train -mp-specialize=batch=6 -mp-chunk-loss="loss-chunks=2" -mp-autodiff -mp-order-chunks
// RUN: echo "func.func private @f()" | not mp-opt -mp-chunk-loss="loss-chunks=0" 2>&1 | FileCheck %s
// CHECK: "0" does not say in how many parts a loss takes the rows of a batch, expected auto or a positive number

mp.variable @w : tensor<9x4xf32> = #mp.init<zeros>
// expected-error @below {{has no loss whose rows could be taken in parts: loss-chunks needs an mp.cross_entropy, with the classes in the last dimension, of an mp.linear or an mp.matmul by one matrix}}
func.func @loss(%x: tensor<?x4xf32>, %y: tensor<?xi32>) -> tensor<f32> {
  %w = mp.read @w : tensor<9x4xf32>
  %z = mp.linear %x, %w : tensor<?x4xf32>, tensor<9x4xf32>
  %t = mp.tanh %z : tensor<?x9xf32>
  // expected-note @below {{this one has its classes in dimension 1 of 'tensor<6x9xf32>', which 'mp.tanh' makes}}
  %l = mp.cross_entropy %t, %y : tensor<?x9xf32>, tensor<?xi32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-1>}
}

// -----

mp.variable @w : tensor<9x4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x4xf32>, %y: tensor<?xi32>) -> (tensor<f32>, tensor<?x9xf32>) {
  %w = mp.read @w : tensor<9x4xf32>
  // expected-error @below {{makes logits that are needed as a whole, so that loss-chunks cannot take their rows in parts}}
  %z = mp.linear %x, %w : tensor<?x4xf32>, tensor<9x4xf32>
  %l = mp.cross_entropy %z, %y : tensor<?x9xf32>, tensor<?xi32>
  // expected-note @below {{'func.return' returns them}}
  return %l, %z : tensor<f32>, tensor<?x9xf32>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-1>}
}

// -----

mp.variable @w : tensor<9x4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x4xf32>, %y: tensor<?xi32>) -> tensor<f32> {
  %w = mp.read @w : tensor<9x4xf32>
  // expected-error @below {{makes logits that are needed as a whole}}
  %z = mp.linear %x, %w : tensor<?x4xf32>, tensor<9x4xf32>
  %l = mp.cross_entropy %z, %y : tensor<?x9xf32>, tensor<?xi32>
  // expected-note @below {{'mp.mul' reads them}}
  %q = mp.mul %z, %z : tensor<?x9xf32>, tensor<?x9xf32>
  %p = mp.mean %q dims[0, 1] : tensor<?x9xf32>
  %s = mp.add %l, %p : tensor<f32>, tensor<f32>
  return %s : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-1>}
}

// -----

// The gradient of a square is as large as the loss, which is known only after all parts.
mp.variable @w : tensor<9x4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x4xf32>, %y: tensor<?xi32>) -> tensor<f32> {
  %w = mp.read @w : tensor<9x4xf32>
  %z = mp.linear %x, %w : tensor<?x4xf32>, tensor<9x4xf32>
  // expected-error @below {{computes a value from the losses of all rows, which the backward pass needs, so that loss-chunks cannot take the rows in parts}}
  %l = mp.cross_entropy %z, %y : tensor<?x9xf32>, tensor<?xi32>
  // expected-note @below {{needs it here}}
  %s = mp.mul %l, %l : tensor<f32>, tensor<f32>
  return %s : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-1>}
}

// -----

mp.variable @v : tensor<4x4xf32> = #mp.init<zeros>
mp.variable @w : tensor<9x4xf32> = #mp.init<zeros>
// expected-error @below {{minimises several losses, so that loss-chunks cannot take the rows of one in parts}}
func.func @loss(%x: tensor<?x4xf32>, %y: tensor<?xi32>) -> (tensor<f32>, tensor<f32>) {
  %v = mp.read @v : tensor<4x4xf32>
  %w = mp.read @w : tensor<9x4xf32>
  %h = mp.linear %x, %v : tensor<?x4xf32>, tensor<4x4xf32>
  %z = mp.linear %h, %w : tensor<?x4xf32>, tensor<9x4xf32>
  %l = mp.cross_entropy %z, %y : tensor<?x9xf32>, tensor<?xi32>
  %m = mp.mean %h dims[0, 1] : tensor<?x4xf32>
  return %l, %m : tensor<f32>, tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {params = ["w"], optimizer = #mp.sgd<lr = 1.0e-1>}
  mp.minimize result(1) {params = ["v"], optimizer = #mp.sgd<lr = 1.0e-1>}
}
