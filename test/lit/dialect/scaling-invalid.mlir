// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @scale(%x: tensor<4xf32>) {
  // expected-error@+1 {{operand #1 must be 0D tensor of 32-bit float values, but got 'tensor<4xf32>'}}
  %0 = mp.scale %x, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @half_scale(%x: tensor<4xf32>, %k: tensor<f16>) {
  // expected-error@+1 {{operand #1 must be 0D tensor of 32-bit float values, but got 'tensor<f16>'}}
  %0, %1 = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f16>
  return
}

// -----

func.func @seed() {
  // expected-error@+1 {{result #0 must be ranked tensor of 64-bit float or}}
  %0 = mp.seed : tensor<i32>
  return
}

// -----

func.func @field(%k: tensor<f32>, %t: tensor<i32>, %bad: tensor<i1>) {
  // expected-error@+1 {{unknown attribute 'interval', expected backoff_factor, growth_delay, growth_factor, growth_interval, hysteresis, hysteresis_refill, max_scale, min_scale, on_min, tolerance}}
  %0, %1, %2 = mp.update_scale %k, %t, %bad {interval = 5} : tensor<f32>, tensor<i32>, tensor<i1>
  return
}

// -----

func.func @counters(%k: tensor<f32>, %t: tensor<i32>, %bad: tensor<i1>) {
  // expected-error@+1 {{has 0 counters, expected 3: one for hysteresis, two for tolerance}}
  %0, %1, %2 = mp.update_scale %k, %t, %bad {hysteresis = 2, tolerance = 0.5} : tensor<f32>, tensor<i32>, tensor<i1>
  return
}

// -----

func.func @exponent(%x: tensor<4xf16>) {
  // expected-error@+1 {{the exponent is 127, expected -126 to 126}}
  %0 = mp.scale_gradient %x by 127 : tensor<4xf16>
  return
}
