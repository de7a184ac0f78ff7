// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @integer(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 64-bit float or 32-bit float or 16-bit float or bfloat16 type or f8E4M3FN type or f8E5M2 type values, but got 'tensor<4xi32>'}}
  %0 = mp.relu %x : tensor<4xi32>
  return
}

// -----

func.func @not_a_tensor(%x: f32) {
  // expected-error@+1 {{operand #0 must be ranked tensor}}
  %0 = "mp.relu"(%x) : (f32) -> f32
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor}}
  %0 = "mp.tanh"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

func.func @result(%x: tensor<4xf32>) {
  // expected-error@+2 {{'mp.sigmoid' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "mp.sigmoid"(%x) : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @approximation(%x: tensor<4xf32>) {
  // expected-error@+2 {{expected ::mp::GeluApproximation to be one of: none, tanh}}
  // expected-error@+1 {{failed to parse}}
  %0 = mp.gelu %x approximate(erf) : tensor<4xf32>
  return
}

// -----

func.func @elements(%g: tensor<4xf32>, %x: tensor<4xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.relu_backward %g, %x : tensor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @beta(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects a finite beta other than 0, not 0.000000e+00}}
  %0 = mp.softplus %x {beta = 0.0} : tensor<4xf32>
  return
}

// -----

func.func @negative_slope(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects a finite negative_slope, not INF}}
  %0 = mp.leaky_relu %x {negative_slope = 0x7FF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

func.func @alpha(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects a finite alpha, not nan}}
  %0 = mp.elu %x {alpha = 0x7FF8000000000000 : f64} : tensor<4xf32>
  return
}
