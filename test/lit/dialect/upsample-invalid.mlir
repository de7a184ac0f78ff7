// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @rank(%x: tensor<5x7x3xf16>) {
  // expected-error@+1 {{input is not [batch, height, width, channels]: 'tensor<5x7x3xf16>'}}
  %0 = mp.upsample_nearest %x size[10, 4] : tensor<5x7x3xf16>
  return
}

// -----

func.func @size_zero(%x: tensor<?x5x7x3xf16>) {
  // expected-error@+1 {{size has 0, expected a number from 1 to 2147483648}}
  %0 = mp.upsample_bilinear %x size[10, 0] : tensor<?x5x7x3xf16>
  return
}

// -----

func.func @size_count(%x: tensor<?x5x7x3xf16>) {
  // expected-error@+1 {{size has 3 numbers, expected 2: height and width}}
  %0 = mp.upsample_bilinear_backward %x size[1, 5, 7] : tensor<?x5x7x3xf16>
  return
}

// -----

func.func @no_pixel(%x: tensor<2x0x7x3xf16>) {
  // expected-error@+1 {{gradient has a size of 0 besides its batch: 'tensor<2x0x7x3xf16>'}}
  %0 = mp.upsample_nearest_backward %x size[5, 7] : tensor<2x0x7x3xf16>
  return
}
