// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @rank(%x: tensor<64xf32>, %c: tensor<32xf32>) {
  // expected-error@+1 {{the input needs tokens and channels, two dimensions: 'tensor<64xf32>'}}
  %0 = mp.rotary_embedding %x, %c, %c dim(0) : tensor<64xf32>, tensor<32xf32>
  return
}

// -----

func.func @channels_as_tokens(%x: tensor<?x16x64xf32>, %c: tensor<16x32xf32>) {
  // expected-error@+1 {{dimension 2 of the tokens is not one of the first 2 of 'tensor<?x16x64xf32>'}}
  %0 = mp.rotary_embedding %x, %c, %c dim(2) : tensor<?x16x64xf32>, tensor<16x32xf32>
  return
}

// -----

func.func @odd(%x: tensor<?x16x63xf32>, %c: tensor<16x31xf32>) {
  // expected-error@+1 {{the channels are no pairs: 63 of 'tensor<?x16x63xf32>'}}
  %0 = mp.rotary_embedding %x, %c, %c dim(1) : tensor<?x16x63xf32>, tensor<16x31xf32>
  return
}

// -----

// Hugging Face's tables hold each angle twice.
func.func @twice(%x: tensor<?x16x4x64xf32>, %c: tensor<16x64xf32>) {
  // expected-error@+1 {{angles 'tensor<16x64xf32>' are not one for each token and pair of 'tensor<?x16x4x64xf32>': expected 'tensor<16x32xf32>' or 'tensor<?x16x32xf32>'}}
  %0 = mp.rotary_embedding %x, %c, %c dim(1) : tensor<?x16x4x64xf32>, tensor<16x64xf32>
  return
}

// -----

func.func @wide(%x: tensor<?x16x64xf32>, %c: tensor<16x32xf64>) {
  // expected-error@+1 {{angles 'tensor<16x32xf64>' are not computed with in 'f32', as the input is: 'tensor<?x16x64xf32>'}}
  %0 = mp.rotary_embedding %x, %c, %c dim(1) : tensor<?x16x64xf32>, tensor<16x32xf64>
  return
}
