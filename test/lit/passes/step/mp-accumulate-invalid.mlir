// RUN: mp-opt %s -mp-accumulate=accumulate=2 -verify-diagnostics -split-input-file
// RUN: not mp-opt %s -split-input-file -mp-accumulate=accumulate=-1 2>&1 | FileCheck %s

// CHECK: error: accumulate is -1, rows 0 and ranks 1, expected positive numbers
func.func private @loss() -> tensor<f32>
// expected-error@+1 {{has no step yet: run mp-autodiff before mp-accumulate}}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{'func.func' op is split already}}
func.func @step() attributes {mp.phase = "apply"} {
  return
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{'func.func' op is to take micro-batches as @step.accumulate, which exists}}
func.func @step() {
  return
}
// expected-note@+1 {{here}}
func.func private @step.accumulate()
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

mp.variable attempt @seen : tensor<f32> = #mp.init<zeros>
func.func private @loss() -> tensor<f32>
func.func @step(%x: tensor<f32>) {
  %0 = mp.neg %x : tensor<f32>
  // expected-error@+1 {{writes @seen once in a window, but from what every micro-batch computes}}
  mp.write @seen, %0 : tensor<f32>
  return
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{'func.func' op result "scale" differs between micro-batches}}
func.func @step(%x: tensor<f32>) -> (tensor<f32> {mp.name = "scale"}) {
  return %x : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

// expected-error@+1 {{'mp.phase' is "train", expected "accumulate" or "apply"}}
func.func @step() attributes {mp.phase = "train"} {
  return
}
