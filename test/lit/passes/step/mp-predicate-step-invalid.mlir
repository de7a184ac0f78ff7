// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-predicate-step))' -verify-diagnostics -split-input-file

// expected-error@+1 {{'func.func' op result "skipped" is 'tensor<f32>', expected 'tensor<i1>'}}
func.func @step(%x: tensor<f32>) -> (tensor<f32> {mp.name = "skipped"}) {
  return %x : tensor<f32>
}

// -----

// expected-error@+1 {{'func.func' op has control flow, which no step has}}
func.func @control_flow(%flag: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  return %flag : tensor<i1>
^other:
  return %flag : tensor<i1>
}
