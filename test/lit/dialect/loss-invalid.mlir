// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @shapes(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{shapes do not broadcast: 'tensor<4x3xf32>' vs 'tensor<4x2xf32>'}}
  %0 = mp.mse_loss %x, %y : tensor<4x3xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @elements(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.l1_loss %x, %y : tensor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 64-bit float or}}
  %0 = mp.mse_loss %x, %x : tensor<4xi32>, tensor<4xi32>
  return
}

// -----

func.func @beta(%x: tensor<4xf32>) {
  // expected-error@+1 {{beta is -1.000000e+00, expected 0 or more}}
  %0 = mp.smooth_l1_loss %x, %x {beta = -1.0} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @delta(%x: tensor<4xf32>) {
  // expected-error@+1 {{delta is 0.000000e+00, expected more than 0}}
  %0 = mp.huber_loss %x, %x {delta = 0.0} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @batchmean(%x: tensor<4xf32>) {
  // expected-error@+1 {{has no reduction(batchmean), which is mp.kl_div's: expected mean, sum or none}}
  %0 = mp.mse_loss %x, %x reduction(batchmean) : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @batchmean_of_numbers(%x: tensor<f32>) {
  // expected-error@+1 {{has no leading dimension that reduction(batchmean) could divide by}}
  %0 = mp.kl_div %x, %x reduction(batchmean) : tensor<f32>, tensor<f32>
  return
}

// -----

func.func @reduction(%x: tensor<4xf32>) {
  // expected-error@+2 {{expected ::mp::LossReduction to be one of: mean, sum, none, batchmean}}
  // expected-error@+1 {{failed to parse Mp_LossReductionAttr parameter 'value'}}
  %0 = mp.mse_loss %x, %x reduction(average) : tensor<4xf32>, tensor<4xf32>
  return
}
