// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{'mp.cast' op changes the shape: 'tensor<4xf32>' vs 'tensor<2x2xf16>'}}
  %0 = mp.cast %x : tensor<4xf32> to tensor<2x2xf16>
  return
}

// -----

func.func @element(%x: tensor<4xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of 64-bit float or}}
  %0 = mp.cast %x : tensor<4xf32> to tensor<4xi24>
  return
}
