// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @dimension(%x: tensor<4x10xf32>) {
  // expected-error@+1 {{dimension 2 is outside of rank 2}}
  %0 = mp.softmax %x dim(2) : tensor<4x10xf32>
  return
}

// -----

func.func @negative(%x: tensor<4x10xf32>) {
  // expected-error@+1 {{dimension -1 is outside of rank 2}}
  %0 = mp.log_softmax %x dim(-1) : tensor<4x10xf32>
  return
}

// -----

func.func @number(%x: tensor<f32>) {
  // expected-error@+1 {{dimension 0 is outside of rank 0}}
  %0 = mp.softmax %x dim(0) : tensor<f32>
  return
}

// -----

func.func @saved(%g: tensor<4x10xf32>, %y: tensor<4x9xf32>) {
  // expected-error@+1 {{shapes do not broadcast: 'tensor<4x10xf32>' vs 'tensor<4x9xf32>'}}
  %0 = mp.softmax_backward %g, %y dim(1) : tensor<4x10xf32>, tensor<4x9xf32>
  return
}
