// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @nothing(%l: tensor<f32>) {
  // expected-error@+1 {{'mp.gradient' op names nothing to differentiate by: write of %x}}
  "mp.gradient"(%l) : (tensor<f32>) -> ()
  return
}

// -----

func.func @no_number(%l: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be 0D tensor of}}
  %0 = mp.gradient %l of %l : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @no_float(%l: tensor<f32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{operand #1 must be variadic of ranked tensor of}}
  %0 = mp.gradient %l of %i : tensor<f32>, tensor<4xi32>
  return
}
