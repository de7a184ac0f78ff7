// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @no_shape(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{says of no dimension that it is normalized: give normalized_shape, or a weight with dimensions}}
  %0:3 = mp.layer_norm %x : tensor<4x8xf32>
  return
}

// -----

func.func @shape(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{normalizes 9, but the input is 'tensor<4x8xf32>'}}
  %0:3 = mp.layer_norm %x normalized_shape[9] : tensor<4x8xf32>
  return
}

// -----

func.func @rank(%x: tensor<8xf32>, %w: tensor<4x8xf32>) {
  // expected-error@+1 {{normalizes 4, 8, but the input is 'tensor<8xf32>'}}
  %0:2 = mp.rms_norm %x weight(%w : tensor<4x8xf32>) : tensor<8xf32>
  return
}

// -----

func.func @weight(%x: tensor<4x8xf16>, %w: tensor<8xf64>) {
  // expected-error@+1 {{weight is 'tensor<8xf64>', expected 'tensor<8xf32>'}}
  %0:3 = mp.layer_norm %x weight(%w : tensor<8xf64>) : tensor<4x8xf16>
  return
}

// -----

func.func @bias(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{bias is 'tensor<4xf32>', expected 'tensor<8xf32>'}}
  %0:3 = mp.layer_norm %x weight(%w : tensor<8xf32>) bias(%b : tensor<4xf32>) : tensor<4x8xf32>
  return
}

// -----

func.func @eps(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{eps is -1.000000e+00, expected a number that is not negative}}
  %0:3 = mp.layer_norm %x normalized_shape[8] {eps = -1.0} : tensor<4x8xf32>
  return
}

// -----

func.func @gradient(%g: tensor<4x8xf32>, %x: tensor<4x8xf16>, %s: tensor<4x1xf32>) {
  // expected-error@+1 {{gradient is 'tensor<4x8xf32>', expected 'tensor<4x8xf16>'}}
  %0:3 = mp.layer_norm_backward %g, %x, %s, %s normalized_shape[8] : tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x1xf32>, tensor<4x1xf32>
  return
}

// -----

func.func @statistic(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{rstd is 'tensor<4xf32>', expected 'tensor<4x1xf32>'}}
  %0:2 = mp.rms_norm_backward %x, %x, %s normalized_shape[8] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @no_channels(%x: tensor<4xf32>) {
  // expected-error@+1 {{input is not a batch of channels: 'tensor<4xf32>'}}
  %0:3 = mp.group_norm %x groups(2) : tensor<4xf32>
  return
}

// -----

func.func @dynamic_channels(%x: tensor<4x?xf32>) {
  // expected-error@+1 {{only the batch may be '?': 'tensor<4x?xf32>'}}
  %0:3 = mp.group_norm %x groups(2) : tensor<4x?xf32>
  return
}

// -----

func.func @no_groups(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{num_groups is 0, expected a positive number}}
  %0:3 = mp.group_norm %x groups(0) : tensor<4x6xf32>
  return
}

// -----

func.func @unequal_groups(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{6 channels do not make num_groups = 4 equal groups}}
  %0:3 = mp.group_norm %x groups(4) : tensor<4x6xf32>
  return
}

// -----

func.func @group_mean(%x: tensor<4x6xf32>, %s: tensor<4x3xf32>) {
  // expected-error@+1 {{mean is 'tensor<4x3xf32>', expected 'tensor<4x2xf32>'}}
  %0:3 = mp.group_norm_backward %x, %x, %s, %s groups(2) : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @running(%x: tensor<4x6xf16>, %m: tensor<6xf32>, %v: tensor<4xf32>) {
  // expected-error@+1 {{running_var is 'tensor<4xf32>', expected 'tensor<6xf32>'}}
  %0:5 = mp.batch_norm %x, %m, %v : tensor<4x6xf16>, tensor<6xf32>, tensor<4xf32>
  return
}

// -----

func.func @one_element(%x: tensor<1x6x1xf16>, %m: tensor<6xf32>) {
  // expected-error@+1 {{needs more than one element a channel to train, got 1 of 'tensor<1x6x1xf16>'}}
  %0:5 = mp.batch_norm %x, %m, %m : tensor<1x6x1xf16>, tensor<6xf32>, tensor<6xf32>
  return
}

// -----

func.func @momentum(%x: tensor<4x6xf16>, %m: tensor<6xf32>) {
  // expected-error@+1 {{momentum is 2.000000e+00, expected 0 to 1}}
  %0:5 = mp.batch_norm %x, %m, %m {momentum = 2.0} : tensor<4x6xf16>, tensor<6xf32>, tensor<6xf32>
  return
}

// -----

func.func @channel_dim_of_batch(%x: tensor<2x5x4x6xf32>, %f: tensor<6xf32>) {
  // expected-error@+1 {{channel_dim is 0, expected 1 to 3 for 'tensor<2x5x4x6xf32>'}}
  %0:5 = mp.batch_norm %x, %f, %f channel_dim(0) : tensor<2x5x4x6xf32>, tensor<6xf32>, tensor<6xf32>
  return
}

// -----

func.func @channel_dim_beyond(%x: tensor<2x5x4x6xf32>, %f: tensor<6xf32>) {
  // expected-error@+1 {{channel_dim is 4, expected 1 to 3 for 'tensor<2x5x4x6xf32>'}}
  %0 = mp.batch_norm_inference %x, %f, %f channel_dim(4) : tensor<2x5x4x6xf32>, tensor<6xf32>, tensor<6xf32>
  return
}

// -----

func.func @channel_dim_negative(%x: tensor<2x5x4x6xf32>, %f: tensor<6xf32>) {
  // expected-error@+1 {{channel_dim is -1, expected 1 to 3 for 'tensor<2x5x4x6xf32>'}}
  %0:3 = mp.group_norm %x groups(2) channel_dim(-1) : tensor<2x5x4x6xf32>
  return
}

// -----

func.func @channels_of_another_dim(%x: tensor<2x5x4x6xf32>, %f: tensor<6xf32>) {
  // expected-error@+1 {{running_mean is 'tensor<6xf32>', expected 'tensor<4xf32>'}}
  %0:5 = mp.batch_norm %x, %f, %f channel_dim(2) : tensor<2x5x4x6xf32>, tensor<6xf32>, tensor<6xf32>
  return
}

// -----

func.func @groups_of_another_dim(%x: tensor<2x5x4x6xf32>, %f: tensor<6xf32>) {
  // expected-error@+1 {{4 channels do not make num_groups = 3 equal groups}}
  %0:3 = mp.group_norm %x groups(3) channel_dim(2) : tensor<2x5x4x6xf32>
  return
}

// -----

func.func @one_element_a_channel(%x: tensor<1x1x1x6xf32>, %f: tensor<6xf32>) {
  // expected-error@+1 {{needs more than one element a channel to train, got 1 of 'tensor<1x1x1x6xf32>'}}
  %0:5 = mp.batch_norm %x, %f, %f channel_dim(3) : tensor<1x1x1x6xf32>, tensor<6xf32>, tensor<6xf32>
  return
}

// -----

func.func @backward_of_another_dim(%x: tensor<2x5x4x6xf32>, %f: tensor<6xf32>) {
  // expected-error@+1 {{mean is 'tensor<6xf32>', expected 'tensor<5xf32>'}}
  %0:3 = mp.batch_norm_backward %x, %x, %f, %f : tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<6xf32>, tensor<6xf32>
  return
}
