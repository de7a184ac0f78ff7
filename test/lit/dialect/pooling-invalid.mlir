// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @window_size(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{window has 3 numbers, expected 2: height and width}}
  %0 = mp.max_pool2d %x window[2, 2, 2] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @window_zero(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{window has 0, expected a number from 1 to 2147483648}}
  %0 = mp.max_pool2d %x window[2, 0] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @stride_zero(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{strides has 0, expected a number from 1 to 2147483648}}
  %0 = mp.max_pool2d %x window[2, 2] strides[1, 0] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @negative_padding(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{low has -1, expected a number from 0 to 2147483648}}
  %0 = mp.avg_pool2d %x window[2, 2] low[-1, 0] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @too_large(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{the window spans 7 elements of the height, and the input has 6, with padding 6}}
  %0 = mp.max_pool2d %x window[7, 2] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @too_large_dilated(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{the window spans 7 elements of the width, and the input has 5, with padding 6}}
  %0 = mp.max_pool2d %x window[1, 3] low[0, 1] dilations[1, 3] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @too_large_ceil(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{the window has no place in the width: it spans 9 elements, and the input has 5, with padding 5}}
  %0 = mp.avg_pool2d %x window[2, 9] ceil_mode : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @padding(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{high pads the width by 2, expected at most 1: half of the window's 3}}
  %0 = mp.max_pool2d %x window[3, 3] low[1, 1] high[1, 2] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @padding_of_mean(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{low pads the height by 1, expected at most 0: half of the window's 1}}
  %0 = mp.avg_pool2d %x window[1, 3] low[1, 1] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @rank(%r: tensor<6x5x3xf32>) {
  // expected-error@+1 {{input is not [batch, height, width, channels]: 'tensor<6x5x3xf32>'}}
  %0 = mp.max_pool2d %r window[2, 2] : tensor<6x5x3xf32>
  return
}

// -----

func.func @adaptive_size(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{size has 0, expected a number from 1 to 2147483648}}
  %0 = mp.adaptive_avg_pool2d %x size[0, 1] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @adaptive_count(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{size has 1 numbers, expected 2: height and width}}
  %0 = mp.adaptive_max_pool2d %x size[3] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @places(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{the window maps 6x5 to 5x4, and not to 5x5}}
  %0 = mp.max_pool2d_index %x places[5, 5] window[2, 2] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @no_window(%x: tensor<2x6x5x3xf32>) {
  // expected-error@+1 {{has strides, padding or dilations, and no window that they belong to}}
  %0 = mp.max_pool2d_index %x places[5, 5] strides[2, 2] : tensor<2x6x5x3xf32>
  return
}

// -----

func.func @index_shape(%g: tensor<2x3x2x3xf32>, %i: tensor<2x3x2x4xui8>) {
  // expected-error@+1 {{index 'tensor<2x3x2x4xui8>' does not have the shape of the gradient 'tensor<2x3x2x3xf32>'}}
  %0 = mp.max_pool2d_backward %g, %i size[6, 5] window[2, 2] strides[2, 2] : tensor<2x3x2x3xf32>, tensor<2x3x2x4xui8>
  return
}

// -----

func.func @index_places(%x: tensor<2x6x5x3xf32>, %i: tensor<2x3x2x4xui8>) {
  // expected-error@+1 {{index 'tensor<2x3x2x4xui8>' does not have the shape of the places 'tensor<2x3x2x3xf32>'}}
  %0 = mp.max_pool2d_at %x, %i window[2, 2] strides[2, 2] : tensor<2x6x5x3xf32>, tensor<2x3x2x4xui8>
  return
}

// -----

func.func @gradient_places(%h: tensor<2x3x4x3xf32>) {
  // expected-error@+1 {{the window maps 6x5 to 3x2, or with ceil_mode 3x3, and not to 3x4}}
  %0 = mp.avg_pool2d_backward %h size[6, 5] window[2, 2] strides[2, 2] : tensor<2x3x4x3xf32>
  return
}
