// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-predicate-step))' -verify-diagnostics

// expected-error@+1 {{'func.func' op result "skipped" is 'tensor<f32>', expected 'tensor<i1>'}}
func.func @step(%x: tensor<f32>) -> (tensor<f32> {mp.name = "skipped"}) {
  return %x : tensor<f32>
}
