// RUN: mp-opt %s -verify-diagnostics -split-input-file -mp-autodiff -mp-sparse-gradients -mp-optimizer=gradients=other
// RUN: not mp-opt %S/mp-sparse-gradients.mlir -mp-autodiff -mp-sparse-gradients -mp-accumulate=accumulate=2 2>&1 | FileCheck %s --check-prefix=ACCUMULATE
// RUN: not mp-opt %S/mp-sparse-gradients.mlir -mp-autodiff -mp-sparse-gradients -mp-data-parallel=ranks=2 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not mp-opt %S/mp-sparse-gradients.mlir -mp-autodiff -mp-sparse-gradients -mp-optimizer=gradients=table 2>&1 | FileCheck %s --check-prefix=GRADIENTS
// RUN: not mp-opt %S/mp-sparse-gradients.mlir -mp-autodiff -mp-optimizer 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not mp-opt %S/mp-sparse-gradients.mlir -mp-sparse-gradients 2>&1 | FileCheck %s --check-prefix=EARLY
// ACCUMULATE: mp-sparse-gradients.mlir:{{.*}} error: the gradient of @table is the rows that a batch uses (sparse), and micro-batches use other rows each: let a step have one batch, or the optimizer update all rows
// RANKS: mp-sparse-gradients.mlir:{{.*}} error: the gradient of @table is the rows that a batch uses (sparse), and ranks use other rows each: train on one rank, or let the optimizer update all rows
// GRADIENTS: error: 'mp.train' op updates rows of parameter 'table' (sparse), whose whole gradient it cannot return
// WITHOUT: error: 'mp.minimize' op is sparse: run mp-sparse-gradients before mp-optimizer
// EARLY: error: 'mp.train' op has no step yet: run mp-autodiff before mp-sparse-gradients

// The table is a classifier's weight, too.
mp.variable @table : tensor<9x4xf32> = #mp.init<zeros>
func.func @loss(%i: tensor<3xi32>, %x: tensor<2x4xf32>) -> tensor<f32> {
  %t = mp.read @table : tensor<9x4xf32>
  %r = mp.gather %t, %i dim(0) : tensor<9x4xf32>, tensor<3xi32>
  %s = mp.sum %r dims[0, 1] : tensor<3x4xf32>
  // expected-note@+1 {{here; leave @table to a group that is not sparse}}
  %y = mp.linear %x, %t : tensor<2x4xf32>, tensor<9x4xf32>
  %u = mp.sum %y dims[0, 1] : tensor<2x9xf32>
  %l = mp.add %s, %u : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  // expected-error@+1 {{updates the rows of @table that a batch uses (sparse), but its gradient is not made of such rows alone: mp.matmul gives all of it}}
  mp.minimize result(0) {optimizer = #mp.sgd<sparse = true>}
}

// -----

mp.variable @table : tensor<9x4xf32> = #mp.init<zeros>
func.func @loss(%i: tensor<3xi32>, %x: tensor<2x4xf32>) -> tensor<f32> {
  %t = mp.read @table : tensor<9x4xf32>
  %r = mp.gather %t, %i dim(0) : tensor<9x4xf32>, tensor<3xi32>
  %l = mp.sum %r dims[0, 1] : tensor<3x4xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  // expected-error@+1 {{updates the rows that a batch uses (sparse), but ema changes all rows}}
  mp.minimize result(0) {optimizer = #mp.sgd<sparse = true>, ema = 0.9}
}

// -----

// Nothing of its gradient is rows of the first dimension.
mp.variable @table : tensor<9x4xf32> = #mp.init<zeros>
func.func @loss(%i: tensor<3xi32>, %x: tensor<2x4xf32>) -> tensor<f32> {
  %t = mp.read @table : tensor<9x4xf32>
  // expected-note@+1 {{here; leave @table to a group that is not sparse}}
  %r = mp.gather %t, %i dim(1) : tensor<9x4xf32>, tensor<3xi32>
  %l = mp.sum %r dims[0, 1] : tensor<9x3xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  // expected-error@+1 {{its gradient is not made of such rows alone: mp.scatter_add gives all of it}}
  mp.minimize result(0) {optimizer = #mp.sgd<sparse = true>}
}
