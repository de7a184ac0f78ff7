// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @shapes(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{shapes do not broadcast: 'tensor<4x3xf32>' vs 'tensor<4x2xf32>'}}
  %0 = mp.binary_cross_entropy %x, %y : tensor<4x3xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @weight_shape(%x: tensor<4x3xf32>, %w: tensor<2x4x3xf32>) {
  // expected-error@+1 {{weight 'tensor<2x4x3xf32>' does not broadcast to the loss's elements: 'tensor<4x3xf32>'}}
  %0 = mp.binary_cross_entropy %x, %x weight(%w : tensor<2x4x3xf32>) : tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @weight_element(%x: tensor<4x3xf32>, %w: tensor<3xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.binary_cross_entropy_with_logits %x, %x pos_weight(%w : tensor<3xf16>) : tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @gradient(%g: tensor<f32>, %x: tensor<4x3xf32>) {
  // expected-error@+1 {{gradient 'tensor<f32>' is not of the loss's type: 'tensor<4x3xf32>'}}
  %0 = mp.binary_cross_entropy_with_logits_backward %g, %x, %x reduction(none) : tensor<f32>, tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @batchmean(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{has no reduction(batchmean), which is mp.kl_div's: expected mean, sum or none}}
  %0 = mp.binary_cross_entropy %x, %x reduction(batchmean) : tensor<4x3xf32>, tensor<4x3xf32>
  return
}
