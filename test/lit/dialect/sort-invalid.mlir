// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @rank(%x: tensor<f32>) {
  // expected-error@+1 {{dimension 0 is outside of rank 0}}
  %0, %1 = mp.sort %x dim(0) : tensor<f32>
  return
}

// -----

func.func @rank_of_argsort(%x: tensor<f32>) {
  // expected-error@+1 {{'tensor<f32>' has no dimension to sort along}}
  %0 = mp.argsort %x : tensor<f32>
  return
}

// -----

func.func @dim(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension -1 is outside of rank 2}}
  %0, %1 = mp.top_k %x k(1) dim(-1) : tensor<4x3xf32>
  return
}

// -----

func.func @batch(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{the batch dimension cannot be sorted: 'tensor<?x3xf32>'}}
  %0, %1 = mp.sort %x dim(0) : tensor<?x3xf32>
  return
}

// -----

func.func @k(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{k is 4, expected 0 to 3, the size of dimension 1}}
  %0, %1 = mp.top_k %x k(4) dim(1) : tensor<4x3xf32>
  return
}

// -----

func.func @negative(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{k is -1, expected 0 to 3, the size of dimension 1}}
  %0 = mp.argsort %x k(-1) : tensor<4x3xf32>
  return
}

// -----

func.func @large(%x: tensor<2147483648xf32>) {
  // expected-error@+1 {{dimension 0 of size 2147483648 has more elements than i32 counts}}
  %0 = mp.argsort %x : tensor<2147483648xf32>
  return
}

// -----

func.func @type(%x: tensor<4x3xi1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0, %1 = mp.sort %x dim(1) : tensor<4x3xi1>
  return
}
