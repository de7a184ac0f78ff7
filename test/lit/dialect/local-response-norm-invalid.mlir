// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @norm_size(%x: tensor<?x9xf32>) {
  // expected-error@+1 {{size is 0, expected a number from 1 to 2147483648}}
  %0 = mp.local_response_norm %x size(0) : tensor<?x9xf32>
  return
}

// -----

func.func @norm_rank(%x: tensor<f32>) {
  // expected-error@+1 {{input has no dimension to slide along: 'tensor<f32>'}}
  %0 = mp.local_response_norm %x size(5) : tensor<f32>
  return
}

// -----

func.func @sum_batch(%x: tensor<?xf32>) {
  // expected-error@+1 {{the window cannot slide along the batch: 'tensor<?xf32>'}}
  %0 = mp.window_sum %x size(5) low(2) : tensor<?xf32>
  return
}

// -----

func.func @sum_low(%x: tensor<?x9xf32>) {
  // expected-error@+1 {{low is 5, expected a number from 0 to 4}}
  %0 = mp.window_sum %x size(5) low(5) : tensor<?x9xf32>
  return
}

// -----

func.func @sum_size(%x: tensor<?x9xf32>) {
  // expected-error@+1 {{size is -1, expected a number from 1 to 2147483648}}
  %0 = mp.window_sum %x size(-1) low(0) : tensor<?x9xf32>
  return
}
