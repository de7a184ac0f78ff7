// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @integer(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 64-bit float or 32-bit float or 16-bit float or bfloat16 type or f8E4M3FN type or f8E5M2 type values, but got 'tensor<4xi32>'}}
  %0 = mp.floor %x : tensor<4xi32>
  return
}

// -----

func.func @shapes(%x: tensor<4x3xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{shapes do not broadcast: 'tensor<4x3xf32>' vs 'tensor<4xf32>'}}
  %0 = mp.pow %x, %y : tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

func.func @elements(%x: tensor<4xf32>, %y: tensor<f16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.pow %x, %y : tensor<4xf32>, tensor<f16>
  return
}

// -----

func.func @no_bound(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects a bound, min or max}}
  %0 = mp.clamp %x : tensor<4xf32>
  return
}

// -----

func.func @min(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects a number as min, not NaN}}
  %0 = mp.clamp %x {min = 0x7FF8000000000000 : f64} : tensor<4xf32>
  return
}

// -----

func.func @max(%x: tensor<4xf32>) {
  // expected-error@+1 {{expects a number as max, not NaN}}
  %0 = mp.clamp %x {max = 0x7FF8000000000000 : f64, min = 0.0} : tensor<4xf32>
  return
}

// -----

func.func @misspelt(%x: tensor<4xf32>) {
  // expected-error@+1 {{'mp.clamp' op unknown attribute 'maximum', expected max, min}}
  %0 = mp.clamp %x {maximum = 1.0, min = 0.0} : tensor<4xf32>
  return
}
