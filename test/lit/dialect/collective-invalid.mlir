// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @types(%x: tensor<3xf32>, %y: tensor<3xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0:2 = mp.all_reduce sum %x, %y : tensor<3xf32>, tensor<3xf16>
  return
}

// -----

func.func @dynamic(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{'tensor<?x3xf32>' has a '?', but ranks exchange tensors of equal sizes}}
  %0 = mp.all_reduce sum %x : tensor<?x3xf32>
  return
}

// -----

func.func @flag(%x: tensor<i1>) {
  // expected-error@+1 {{cannot combine elements of 'i1' by sum, but by or}}
  %0 = mp.all_reduce sum %x : tensor<i1>
  return
}

// -----

func.func @number(%x: tensor<f32>) {
  // expected-error@+1 {{cannot combine elements of 'f32' by or}}
  %0 = mp.all_reduce or %x : tensor<f32>
  return
}

// -----

func.func @ranks(%x: tensor<f32>) {
  // expected-error@+1 {{ranks is 0, expected at least 1}}
  %0 = mp.all_gather %x ranks(0) : tensor<f32>
  return
}

// -----

func.func @parts(%x: tensor<4x2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{first dimensions are 4 and 3, expected the number of ranks}}
  %0:2 = mp.reduce_scatter sum %x, %y : tensor<4x2xf32>, tensor<3xf32>
  return
}

// -----

func.func @part_of_number(%x: tensor<f32>) {
  // expected-error@+1 {{'tensor<f32>' has no first dimension to divide}}
  %0 = mp.reduce_scatter sum %x : tensor<f32>
  return
}

// -----

func.func @root(%x: tensor<f32>) {
  // expected-error@+1 {{rank is -1, expected 0 or more}}
  %0 = mp.broadcast_from %x rank(-1) : tensor<f32>
  return
}
