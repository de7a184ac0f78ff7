// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @outside(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 2 is outside of rank 2}}
  %0 = mp.norm %x dims[2] : tensor<4x3xf32>
  return
}

// -----

func.func @sum_outside(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 2 is outside of rank 2}}
  %0 = mp.logsumexp %x dims[2] : tensor<4x3xf32>
  return
}

// -----

func.func @integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 64-bit float or}}
  %0 = mp.norm %x dims[0] : tensor<4xi32>
  return
}

// -----

func.func @largest_of_nothing(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{dimension 1 of 'tensor<4x0xf32>' has no element to choose}}
  %0 = mp.norm %x dims[1] p(inf) : tensor<4x0xf32>
  return
}

// -----

func.func @inverse_of_nothing(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{dimension 1 of 'tensor<4x0xf32>' has no element to choose}}
  %0 = mp.norm %x dims[1] p(-1) : tensor<4x0xf32>
  return
}

// -----

func.func @order(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{p is NaN, expected a number}}
  %0 = mp.norm %x dims[1] {p = 0x7FF8000000000000 : f64} : tensor<4x3xf32>
  return
}

// -----

func.func @order_word(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{expected floating point literal}}
  %0 = mp.norm %x dims[1] p(two) : tensor<4x3xf32>
  return
}

// -----

func.func @gradient(%g: tensor<4xf32>, %x: tensor<4x3xf32>) {
  // expected-error@+1 {{gradient 'tensor<4xf32>' is not of the result's type: 'tensor<4x1xf32>'}}
  %0 = mp.norm_backward %g, %x dims[1] keepdim : tensor<4xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @gradient_element(%g: tensor<4xf16>, %x: tensor<4x3xf32>) {
  // expected-error@+1 {{gradient 'tensor<4xf16>' is not of the result's type: 'tensor<4xf32>'}}
  %0 = mp.logsumexp_backward %g, %x dims[1] : tensor<4xf16>, tensor<4x3xf32>
  return
}
