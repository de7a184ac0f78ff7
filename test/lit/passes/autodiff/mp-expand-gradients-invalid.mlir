// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-expand-gradients))' -verify-diagnostics -split-input-file

func.func @elsewhere(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %l = mp.neg %x : tensor<f32>
  // expected-error@+1 {{'mp.gradient' op the number does not depend on value 1, or no gradient passes from it}}
  %g, %h = mp.gradient %l of %x, %y : tensor<f32>, tensor<f32>, tensor<f32>
  return %h : tensor<f32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{'mp.sum' op 'tensor<?xf32>' has a '?': run mp-specialize before mp-autodiff}}
  %l = mp.sum %x dims[0] : tensor<?xf32>
  %g = mp.gradient %l of %x : tensor<f32>, tensor<?xf32>
  return %g : tensor<?xf32>
}
