// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @transposed_size(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xf32>) {
  // expected-error@+1 {{the window maps 9x7 to 4x3, and input has 3x3}}
  %0 = mp.conv_transpose2d %x, %w size[9, 7] strides[2, 2] : tensor<2x3x3x4xf32>, tensor<4x3x3x5xf32>
  return
}

// -----

func.func @transposed_size_below_window(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xf32>) {
  // expected-error@+1 {{the window spans 3 elements of the height, and the input has 2, with padding 2}}
  %0 = mp.conv_transpose2d %x, %w size[2, 5] : tensor<2x3x3x4xf32>, tensor<4x3x3x5xf32>
  return
}

// -----

func.func @transposed_size_of_zero(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xf32>) {
  // expected-error@+1 {{size has 0, expected a number from 1 to 2147483648}}
  %0 = mp.conv_transpose2d %x, %w size[0, 5] : tensor<2x3x3x4xf32>, tensor<4x3x3x5xf32>
  return
}

// -----

func.func @transposed_three_sizes(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xf32>) {
  // expected-error@+1 {{size has 3 numbers, expected 2: height and width}}
  %0 = mp.conv_transpose2d %x, %w size[5, 5, 5] : tensor<2x3x3x4xf32>, tensor<4x3x3x5xf32>
  return
}

// -----

func.func @transposed_stride_of_zero(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xf32>) {
  // expected-error@+1 {{strides has 0, expected a number from 1 to 2147483648}}
  %0 = mp.conv_transpose2d %x, %w size[5, 5] strides[1, 0] : tensor<2x3x3x4xf32>, tensor<4x3x3x5xf32>
  return
}

// -----

func.func @transposed_channels(%x: tensor<2x3x3x4xf32>, %w: tensor<6x3x3x5xf32>) {
  // expected-error@+1 {{input has 4 channels, and the weight 6}}
  %0 = mp.conv_transpose2d %x, %w size[5, 5] : tensor<2x3x3x4xf32>, tensor<6x3x3x5xf32>
  return
}

// -----

func.func @transposed_groups(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xf32>) {
  // expected-error@+1 {{4 output channels in 3 groups}}
  %0 = mp.conv_transpose2d %x, %w size[5, 5] groups(3) : tensor<2x3x3x4xf32>, tensor<4x3x3x5xf32>
  return
}

// -----

func.func @transposed_no_groups(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xf32>) {
  // expected-error@+1 {{0 groups, expected at least 1}}
  %0 = mp.conv_transpose2d %x, %w size[5, 5] groups(0) : tensor<2x3x3x4xf32>, tensor<4x3x3x5xf32>
  return
}

// -----

func.func @transposed_bias(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xf32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{bias 'tensor<5xf32>' does not have the 10 output channels}}
  %0 = mp.conv_transpose2d %x, %w, %b size[5, 5] groups(2) : tensor<2x3x3x4xf32>, tensor<4x3x3x5xf32>, tensor<5xf32>
  return
}

// -----

func.func @transposed_rank(%x: tensor<3x3x4xf32>, %w: tensor<4x3x3x5xf32>) {
  // expected-error@+1 {{input is not [batch, height, width, channels]: 'tensor<3x3x4xf32>'}}
  %0 = mp.conv_transpose2d %x, %w size[5, 5] : tensor<3x3x4xf32>, tensor<4x3x3x5xf32>
  return
}

// -----

func.func @transposed_weight(%x: tensor<2x3x3x4xf32>, %w: tensor<4x0x3x5xf32>) {
  // expected-error@+1 {{weight has a size of 0: 'tensor<4x0x3x5xf32>'}}
  %0 = mp.conv_transpose2d %x, %w size[5, 5] : tensor<2x3x3x4xf32>, tensor<4x0x3x5xf32>
  return
}

// -----

func.func @transposed_elements(%x: tensor<2x3x3x4xf32>, %w: tensor<4x3x3x5xbf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'bf16'}}
  %0 = mp.conv_transpose2d %x, %w size[5, 5] : tensor<2x3x3x4xf32>, tensor<4x3x3x5xbf16>
  return
}

// -----

func.func @input_size(%g: tensor<2x3x2x6xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{the window maps 6x4 to 4x2, and gradient has 3x2}}
  %0 = mp.conv2d_backward_input %g, %w size[6, 4] : tensor<2x3x2x6xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @input_three_sizes(%g: tensor<2x3x2x6xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{size has 1 numbers, expected 2: height and width}}
  %0 = mp.conv2d_backward_input %g, %w size[5] : tensor<2x3x2x6xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @input_channels(%g: tensor<2x3x2x5xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{gradient has 5 channels, and the weight 6}}
  %0 = mp.conv2d_backward_input %g, %w size[5, 4] : tensor<2x3x2x5xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @input_groups(%g: tensor<2x3x2x6xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{6 output channels in 4 groups}}
  %0 = mp.conv2d_backward_input %g, %w size[5, 4] groups(4) : tensor<2x3x2x6xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @input_images(%g: tensor<2x3x?x6xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{only the batch of gradient may be '?': 'tensor<2x3x?x6xf32>'}}
  %0 = mp.conv2d_backward_input %g, %w size[5, 4] : tensor<2x3x?x6xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @input_elements(%g: tensor<2x3x2x6xf32>, %w: tensor<6x3x3x4xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.conv2d_backward_input %g, %w size[5, 4] : tensor<2x3x2x6xf32>, tensor<6x3x3x4xf16>
  return
}

// -----

func.func @weight_batches(%g: tensor<3x3x2x6xf32>, %x: tensor<2x5x4x4xf32>) {
  // expected-error@+1 {{batches differ: 3 vs 2}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3] : tensor<3x3x2x6xf32>, tensor<2x5x4x4xf32>
  return
}

// -----

func.func @weight_unknown_batch(%g: tensor<2x3x2x6xf32>, %x: tensor<?x5x4x4xf32>) {
  // expected-error@+1 {{batches differ: 2 vs ?}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3] : tensor<2x3x2x6xf32>, tensor<?x5x4x4xf32>
  return
}

// -----

func.func @weight_size(%g: tensor<2x3x2x6xf32>, %x: tensor<2x5x4x4xf32>) {
  // expected-error@+1 {{the window maps 5x4 to 4x2, and gradient has 3x2}}
  %0 = mp.conv2d_backward_weight %g, %x size[2, 3] : tensor<2x3x2x6xf32>, tensor<2x5x4x4xf32>
  return
}

// -----

func.func @weight_size_of_zero(%g: tensor<2x3x2x6xf32>, %x: tensor<2x5x4x4xf32>) {
  // expected-error@+1 {{size has 0, expected a number from 1 to 2147483648}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 0] : tensor<2x3x2x6xf32>, tensor<2x5x4x4xf32>
  return
}

// -----

func.func @weight_three_sizes(%g: tensor<2x3x2x6xf32>, %x: tensor<2x5x4x4xf32>) {
  // expected-error@+1 {{size has 3 numbers, expected 2: height and width}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3, 3] : tensor<2x3x2x6xf32>, tensor<2x5x4x4xf32>
  return
}

// -----

func.func @weight_groups_of_input(%g: tensor<2x3x2x6xf32>, %x: tensor<2x5x4x4xf32>) {
  // expected-error@+1 {{4 input channels in 3 groups}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3] groups(3) : tensor<2x3x2x6xf32>, tensor<2x5x4x4xf32>
  return
}

// -----

func.func @weight_groups_of_output(%g: tensor<2x3x2x6xf32>, %x: tensor<2x5x4x4xf32>) {
  // expected-error@+1 {{6 output channels in 4 groups}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3] groups(4) : tensor<2x3x2x6xf32>, tensor<2x5x4x4xf32>
  return
}

// -----

func.func @weight_no_groups(%g: tensor<2x3x2x6xf32>, %x: tensor<2x5x4x4xf32>) {
  // expected-error@+1 {{0 groups, expected at least 1}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3] groups(0) : tensor<2x3x2x6xf32>, tensor<2x5x4x4xf32>
  return
}

// -----

func.func @weight_rank(%g: tensor<2x3x6xf32>, %x: tensor<2x5x4x4xf32>) {
  // expected-error@+1 {{gradient is not [batch, height, width, channels]: 'tensor<2x3x6xf32>'}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3] : tensor<2x3x6xf32>, tensor<2x5x4x4xf32>
  return
}

// -----

func.func @weight_images(%g: tensor<2x3x2x6xf32>, %x: tensor<5x4x4xf32>) {
  // expected-error@+1 {{input is not [batch, height, width, channels]: 'tensor<5x4x4xf32>'}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3] : tensor<2x3x2x6xf32>, tensor<5x4x4xf32>
  return
}

// -----

func.func @weight_elements(%g: tensor<2x3x2x6xf32>, %x: tensor<2x5x4x4xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3] : tensor<2x3x2x6xf32>, tensor<2x5x4x4xf16>
  return
}

// -----

func.func @weight_out_dtype(%g: tensor<2x3x2x6xf32>, %x: tensor<2x5x4x4xf32>) {
  // expected-error@+1 {{has out_dtype f32, which is for operands of 16 bits or 8, not 'f32'}}
  %0 = mp.conv2d_backward_weight %g, %x size[3, 3] out_dtype(f32) : tensor<2x3x2x6xf32>, tensor<2x5x4x4xf32>
  return
}
