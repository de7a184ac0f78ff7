// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @elements(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{changes the number of elements: 12 vs 10}}
  %0 = mp.reshape %x : tensor<4x3xf32> to tensor<10xf32>
  return
}

// -----

func.func @sample(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{changes the number of elements: rows of 3 make no rows of 4}}
  %0 = mp.reshape %x : tensor<?x3xf32> to tensor<?x4xf32>
  return
}

// -----

func.func @no_elements(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{changes the number of elements: rows of 3 make no rows of 0}}
  %0 = mp.reshape %x : tensor<?x3xf32> to tensor<?x0xf32>
  return
}

// -----

func.func @batch(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{loses the batch dimension: 'tensor<?x3xf32>' vs 'tensor<3xf32>'}}
  %0 = mp.reshape %x : tensor<?x3xf32> to tensor<3xf32>
  return
}

// -----

func.func @moved(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{only the leading dimension may be '?': 'tensor<?x3xf32>' vs 'tensor<3x?xf32>'}}
  %0 = mp.reshape %x : tensor<?x3xf32> to tensor<3x?xf32>
  return
}

// -----

// 2^64 elements do not count as zero.
func.func @overflow(%x: tensor<4611686018427387904x4xf32>) {
  // expected-error@+1 {{has a tensor of more than 281474976710656 elements, 'tensor<4611686018427387904x4xf32>'}}
  %0 = mp.reshape %x : tensor<4611686018427387904x4xf32> to tensor<0xf32>
  return
}

// -----

func.func @type(%x: tensor<4xf32>) {
  // expected-error@+1 {{changes the element type: 'f32' vs 'f16'}}
  %0 = mp.reshape %x : tensor<4xf32> to tensor<4xf16>
  return
}

// -----

func.func @permutation_size(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{permutation has 1 entries for rank 2}}
  %0 = mp.transpose %x [0] : tensor<4x3xf32>
  return
}

// -----

func.func @permutation_outside(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{not a permutation: dimension -1 is outside of rank 2 or repeated}}
  %0 = mp.transpose %x [-1, 0] : tensor<4x3xf32>
  return
}

// -----

func.func @permutation_repeats(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{not a permutation: dimension 1 is outside of rank 2 or repeated}}
  %0 = mp.transpose %x [1, 1] : tensor<4x3xf32>
  return
}

// -----

func.func @transpose_batch(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{the batch dimension must stay the leading one}}
  %0 = mp.transpose %x [1, 0] : tensor<?x3xf32>
  return
}

// -----

func.func @narrower(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{shapes do not broadcast: 'tensor<4x3xf32>' to 'tensor<3xf32>'}}
  %0 = mp.broadcast %x : tensor<4x3xf32> to tensor<3xf32>
  return
}

// -----

func.func @column(%x: tensor<4xf32>) {
  // expected-error@+1 {{shapes do not broadcast: 'tensor<4xf32>' to 'tensor<4x3xf32>'}}
  %0 = mp.broadcast %x : tensor<4xf32> to tensor<4x3xf32>
  return
}

// -----

func.func @broadcast_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{changes the element type: 'f32' vs 'f64'}}
  %0 = mp.broadcast %x : tensor<4xf32> to tensor<3x4xf64>
  return
}
