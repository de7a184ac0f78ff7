// RUN: mp-opt %s -mp-data-parallel=ranks=2 -verify-diagnostics -split-input-file
// RUN: not mp-opt %s -split-input-file -mp-data-parallel=ranks=0 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not mp-opt %s -split-input-file -mp-data-parallel=wire=f8 2>&1 | FileCheck %s --check-prefix=WIRE

// RANKS: error: ranks is 0, rows 0 and bucket 4194304, expected positive numbers
// WIRE: error: wire is "f8", expected f16 or bf16
func.func private @loss() -> tensor<f32>
// expected-error@+1 {{has no step yet: run mp-autodiff before mp-data-parallel}}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{is one of several ranks' already}}
func.func @step() attributes {mp.ranks = 2} {
  return
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{is clipped already, by gradients of one rank: run mp-data-parallel before mp-clip-gradients}}
func.func @step(%n: tensor<f32>) -> (tensor<f32> {mp.name = "grad_norm"}) {
  return %n : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
func.func @step(%x: tensor<f32>, %if: tensor<i1>) {
  // expected-error@+1 {{writes @mean under a condition, which ranks cannot follow one after the other}}
  mp.write @mean, %x if %if : tensor<f32>
  return
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
