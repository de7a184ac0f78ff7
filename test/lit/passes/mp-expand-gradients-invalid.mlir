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

// -----

// A gradient that has none itself is explained by the op it belongs to.
func.func @second(%x: tensor<4xf32>, %y: tensor<4xi32>) -> tensor<4x3xf32> {
  %b = mp.broadcast %x : tensor<4xf32> to tensor<3x4xf32>
  %t = mp.transpose %b [1, 0] : tensor<3x4xf32>
  // expected-error@+1 {{'mp.cross_entropy_backward' op has no gradient: second derivatives are not built}}
  %l = mp.cross_entropy %t, %y : tensor<4x3xf32>, tensor<4xi32>
  // expected-note@+1 {{it is in the gradient of 'mp.cross_entropy' that is asked for here, and that is differentiated in turn}}
  %g = mp.gradient %l of %t : tensor<f32>, tensor<4x3xf32>
  %s = mp.sum %g dims[0, 1] : tensor<4x3xf32>
  %h = mp.gradient %s of %t : tensor<f32>, tensor<4x3xf32>
  return %h : tensor<4x3xf32>
}
