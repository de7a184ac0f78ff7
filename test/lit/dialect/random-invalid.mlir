// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @integers() {
  // expected-error@+1 {{result #0 must be ranked tensor of 64-bit float or 32-bit float or 16-bit float or bfloat16 type or f8E4M3FN type or f8E5M2 type values, but got 'tensor<4xi32>'}}
  %0 = mp.uniform : tensor<4xi32>
  return
}

// -----

func.func @bounds() {
  // expected-error@+1 {{low is 2.000000e+00 and high is 1.000000e+00, expected low <= high}}
  %0 = mp.uniform {low = 2.0} : tensor<4xf32>
  return
}

// -----

func.func @width() {
  // expected-error@+1 {{high - low is 4.000000e+38, which is not finite in 'f32'}}
  %0 = mp.uniform {low = -2.0e38, high = 2.0e38} : tensor<4xf16>
  return
}

// -----

func.func @std() {
  // expected-error@+1 {{mean is 0.000000e+00 and std is -1.000000e+00, expected finite numbers and std >= 0}}
  %0 = mp.normal {std = -1.0} : tensor<4xf32>
  return
}

// -----

func.func @p(%x: tensor<4xf32>) {
  // expected-error@+1 {{p is 1.500000e+00, expected 0 to 1}}
  %0 = mp.dropout %x {p = 1.5} : tensor<4xf32>
  return
}

// -----

func.func @again(%g: tensor<4xf32>) {
  // expected-error@+1 {{draws again what mp.dropout drew: name its stream}}
  %0 = mp.dropout_backward %g : tensor<4xf32>
  return
}

// -----

func.func @stream(%x: tensor<4xf32>) {
  // expected-error@+1 {{stream is -1, expected 0 to 4294967295}}
  %0 = mp.dropout %x stream(-1) : tensor<4xf32>
  return
}

// -----

func.func @key(%x: tensor<4xf32>, %k: tensor<i64>) {
  // expected-error@+1 {{key has 6 parts, expected seed, attempt, micro-batch, the time step of a scan, and the stream}}
  %0 = mp.bernoulli %x key(%k, %k, %k, %k, %k, %k) : tensor<4xf32>
  return
}

// -----

func.func @many() {
  // expected-error@+1 {{draws 17179869188 numbers, expected at most 17179869184}}
  %0 = mp.normal : tensor<4294967297x4xbf16>
  return
}

// -----

func.func @shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{changes the shape: 'tensor<4xf32>' vs 'tensor<5xbf16>'}}
  %0 = mp.stochastic_round %x : tensor<4xf32> to tensor<5xbf16>
  return
}

// -----

func.func @wide(%x: tensor<4xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of 16-bit float or bfloat16 type values, but got 'tensor<4xf32>'}}
  %0 = mp.stochastic_round %x : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{is 'tensor<f32>' and starts as the seed, which is an i64}}
mp.variable attempt @random.seed : tensor<f32> = #mp.init<seed>

// -----

func.func @categorical_dim(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 2 is outside of rank 2}}
  %0 = mp.categorical %x dim(2) : tensor<4x3xf32>
  return
}

// -----

func.func @categorical_of_nothing(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{dimension 1 of 'tensor<4x0xf32>' has no element to choose}}
  %0 = mp.categorical %x dim(1) : tensor<4x0xf32>
  return
}

// -----

func.func @categorical_stream(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{stream is -1, expected 0 to 4294967295}}
  %0 = mp.categorical %x dim(1) stream(-1) : tensor<4x3xf32>
  return
}
