// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @tall_window(%x: tensor<2x5x4x4xf32>, %w: tensor<6x7x3x4xf32>) {
  // expected-error@+1 {{the window spans 7 elements of the height, and the input has 5, with padding 6}}
  %0 = mp.conv2d %x, %w low[1, 0] : tensor<2x5x4x4xf32>, tensor<6x7x3x4xf32>
  return
}

// -----

func.func @wide_window(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x5x4xf32>) {
  // expected-error@+1 {{the window spans 5 elements of the width, and the input has 4, with padding 4}}
  %0 = mp.conv2d %x, %w : tensor<2x5x4x4xf32>, tensor<6x3x5x4xf32>
  return
}

// -----

func.func @dilated_window(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{the window spans 7 elements of the height, and the input has 5, with padding 5}}
  %0 = mp.conv2d %x, %w dilations[3, 1] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @stride_of_zero(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{strides has 0, expected a number from 1 to 2147483648}}
  %0 = mp.conv2d %x, %w strides[0, 1] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @negative_stride(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{strides has -2, expected a number from 1 to 2147483648}}
  %0 = mp.conv2d %x, %w strides[1, -2] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @dilation_of_zero(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{dilations has 0, expected a number from 1 to 2147483648}}
  %0 = mp.conv2d %x, %w dilations[1, 0] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @negative_padding_low(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{low has -1, expected a number from 0 to 2147483648}}
  %0 = mp.conv2d %x, %w low[-1, 0] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @negative_padding_high(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{high has -1, expected a number from 0 to 2147483648}}
  %0 = mp.conv2d %x, %w high[0, -1] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @padding_too_large(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{high has 2147483649, expected a number from 0 to 2147483648}}
  %0 = mp.conv2d %x, %w high[0, 2147483649] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @one_stride(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{strides has 1 numbers, expected 2: height and width}}
  %0 = mp.conv2d %x, %w strides[2] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @three_dilations(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{dilations has 3 numbers, expected 2: height and width}}
  %0 = mp.conv2d %x, %w dilations[1, 1, 1] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @no_padding_low(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{low has 0 numbers, expected 2: height and width}}
  %0 = mp.conv2d %x, %w low[] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @four_paddings_high(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{high has 4 numbers, expected 2: height and width}}
  %0 = mp.conv2d %x, %w high[1, 1, 1, 1] : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @rank_of_input(%x: tensor<5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{input is not [batch, height, width, channels]: 'tensor<5x4x4xf32>'}}
  %0 = mp.conv2d %x, %w : tensor<5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @height_unknown(%x: tensor<2x?x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{only the batch of input may be '?': 'tensor<2x?x4x4xf32>'}}
  %0 = mp.conv2d %x, %w : tensor<2x?x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @channels_unknown(%x: tensor<?x5x4x?xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{only the batch of input may be '?': 'tensor<?x5x4x?xf32>'}}
  %0 = mp.conv2d %x, %w : tensor<?x5x4x?xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @width_of_zero(%x: tensor<2x5x0x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{input has a size of 0 besides its batch: 'tensor<2x5x0x4xf32>'}}
  %0 = mp.conv2d %x, %w : tensor<2x5x0x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @rank_of_weight(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x4xf32>) {
  // expected-error@+1 {{weight is not [out, height, width, in / groups]: 'tensor<6x3x4xf32>'}}
  %0 = mp.conv2d %x, %w : tensor<2x5x4x4xf32>, tensor<6x3x4xf32>
  return
}

// -----

func.func @weight_unknown(%x: tensor<2x5x4x4xf32>, %w: tensor<?x3x3x4xf32>) {
  // expected-error@+1 {{weight is not [out, height, width, in / groups]: 'tensor<?x3x3x4xf32>'}}
  %0 = mp.conv2d %x, %w : tensor<2x5x4x4xf32>, tensor<?x3x3x4xf32>
  return
}

// -----

func.func @weight_of_zero(%x: tensor<2x5x4x4xf32>, %w: tensor<0x3x3x4xf32>) {
  // expected-error@+1 {{weight has a size of 0: 'tensor<0x3x3x4xf32>'}}
  %0 = mp.conv2d %x, %w : tensor<2x5x4x4xf32>, tensor<0x3x3x4xf32>
  return
}

// -----

func.func @channels(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error@+1 {{the weight has 3 channels, and the input 4}}
  %0 = mp.conv2d %x, %w : tensor<2x5x4x4xf32>, tensor<6x3x3x3xf32>
  return
}

// -----

func.func @channels_of_group(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{the weight has 4 channels, and the input 2 in each group}}
  %0 = mp.conv2d %x, %w groups(2) : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @groups_of_input(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x1xf32>) {
  // expected-error@+1 {{4 input channels in 3 groups}}
  %0 = mp.conv2d %x, %w groups(3) : tensor<2x5x4x4xf32>, tensor<6x3x3x1xf32>
  return
}

// -----

func.func @groups_of_output(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x1xf32>) {
  // expected-error@+1 {{6 output channels in 4 groups}}
  %0 = mp.conv2d %x, %w groups(4) : tensor<2x5x4x4xf32>, tensor<6x3x3x1xf32>
  return
}

// -----

func.func @no_groups(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{0 groups, expected at least 1}}
  %0 = mp.conv2d %x, %w groups(0) : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @negative_groups(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{-2 groups, expected at least 1}}
  %0 = mp.conv2d %x, %w groups(-2) : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @bias_size(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{bias 'tensor<4xf32>' does not have the 6 output channels}}
  %0 = mp.conv2d %x, %w, %b : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>, tensor<4xf32>
  return
}

// -----

func.func @bias_rank(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>, %b: tensor<1x6xf32>) {
  // expected-error@+1 {{bias 'tensor<1x6xf32>' does not have the 6 output channels}}
  %0 = mp.conv2d %x, %w, %b : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>, tensor<1x6xf32>
  return
}

// -----

func.func @bias_type(%x: tensor<2x5x4x4xbf16>, %w: tensor<6x3x3x4xbf16>, %b: tensor<6xf32>) {
  // expected-error@+1 {{element types differ: 'bf16' vs 'f32'}}
  %0 = mp.conv2d %x, %w, %b : tensor<2x5x4x4xbf16>, tensor<6x3x3x4xbf16>, tensor<6xf32>
  return
}

// -----

func.func @bias_of_float8(%x: tensor<2x5x4x4xf8E4M3FN>, %w: tensor<6x3x3x4xf8E5M2>, %b: tensor<6xbf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'bf16'}}
  %0 = mp.conv2d %x, %w, %b : tensor<2x5x4x4xf8E4M3FN>, tensor<6x3x3x4xf8E5M2>, tensor<6xbf16>
  return
}

// -----

func.func @elements(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.conv2d %x, %w : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf16>
  return
}

// -----

func.func @integers(%x: tensor<2x5x4x4xi32>, %w: tensor<6x3x3x4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = mp.conv2d %x, %w : tensor<2x5x4x4xi32>, tensor<6x3x3x4xi32>
  return
}

// -----

func.func @compute_type(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{computes in 'f16', expected tf32}}
  %0 = mp.conv2d %x, %w {compute = f16} : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}

// -----

func.func @compute_in_tf32(%x: tensor<2x5x4x4xbf16>, %w: tensor<6x3x3x4xbf16>) {
  // expected-error@+1 {{computes in tf32, which is for f32 operands, not 'bf16'}}
  %0 = mp.conv2d %x, %w {compute = tf32} : tensor<2x5x4x4xbf16>, tensor<6x3x3x4xbf16>
  return
}

// -----

func.func @out_dtype_type(%x: tensor<2x5x4x4xf16>, %w: tensor<6x3x3x4xf16>) {
  // expected-error@+1 {{has out_dtype 'bf16', expected f32}}
  %0 = mp.conv2d %x, %w out_dtype(bf16) : tensor<2x5x4x4xf16>, tensor<6x3x3x4xf16>
  return
}

// -----

func.func @out_dtype_of_f32(%x: tensor<2x5x4x4xf32>, %w: tensor<6x3x3x4xf32>) {
  // expected-error@+1 {{has out_dtype f32, which is for operands of 16 bits or 8, not 'f32'}}
  %0 = mp.conv2d %x, %w out_dtype(f32) : tensor<2x5x4x4xf32>, tensor<6x3x3x4xf32>
  return
}
