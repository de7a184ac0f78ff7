// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @logits(%x: tensor<10xf32>, %y: tensor<ui8>) {
  // expected-error@+1 {{logits must have two dimensions, rows and classes: 'tensor<10xf32>'}}
  %0 = mp.cross_entropy %x, %y : tensor<10xf32>, tensor<ui8>
  return
}

// -----

func.func @rows(%x: tensor<4x10xf32>, %y: tensor<3xui8>) {
  // expected-error@+1 {{labels 'tensor<3xui8>' do not have the logits' rows: 'tensor<4x10xf32>'}}
  %0 = mp.accuracy %x, %y : tensor<4x10xf32>, tensor<3xui8>
  return
}

// -----

func.func @label_rank(%x: tensor<4x10xf32>, %y: tensor<4x10xi64>) {
  // expected-error@+1 {{labels 'tensor<4x10xi64>' do not have the logits' rows: 'tensor<4x10xf32>'}}
  %0 = mp.cross_entropy %x, %y : tensor<4x10xf32>, tensor<4x10xi64>
  return
}

// -----

func.func @smoothing(%x: tensor<4x10xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{label_smoothing is 1.500000e+00, expected 0 to 1}}
  %0 = mp.cross_entropy %x, %y {label_smoothing = 1.5} : tensor<4x10xf32>, tensor<4xui8>
  return
}

// -----

// Labels are compared as 32-bit numbers.
func.func @ignore_index(%x: tensor<4x10xf32>, %y: tensor<4xi64>) {
  // expected-error@+1 {{ignore_index is 4294967296, expected a 32-bit number}}
  %0 = mp.cross_entropy %x, %y {ignore_index = 4294967296} : tensor<4x10xf32>, tensor<4xi64>
  return
}

// -----

func.func @field(%x: tensor<4x10xf32>, %y: tensor<4xi64>) {
  // expected-error@+1 {{unknown attribute 'smoothing', expected ignore_index, label_smoothing, reduction}}
  %0 = mp.cross_entropy %x, %y {smoothing = 0.1} : tensor<4x10xf32>, tensor<4xi64>
  return
}

// -----

func.func @float_labels(%x: tensor<4x10xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 8-bit signless integer or}}
  %0 = mp.cross_entropy %x, %y : tensor<4x10xf32>, tensor<4xf32>
  return
}

// -----

func.func @gradient_shape(%g: tensor<4xf32>, %x: tensor<4x10xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{operand #0 must be 0D tensor of 64-bit float or}}
  %0 = mp.cross_entropy_backward %g, %x, %y : tensor<4xf32>, tensor<4x10xf32>, tensor<4xui8>
  return
}

// -----

func.func @gradient_element(%g: tensor<f32>, %x: tensor<4x10xf16>, %y: tensor<4xui8>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.cross_entropy_backward %g, %x, %y : tensor<f32>, tensor<4x10xf16>, tensor<4xui8>
  return
}
