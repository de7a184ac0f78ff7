// RUN: mp-opt %s -mp-lint -verify-diagnostics -o /dev/null

// A sum has a term for each weight of an output channel; groups divide them.
func.func @terms(%image: tensor<?x32x32x8xui8>, %w: tensor<16x7x7x8xf16>, %g: tensor<16x7x7x4xf16>, %d: tensor<8x7x7x1xf16>) {
  %x = mp.cast %image : tensor<?x32x32x8xui8> to tensor<?x32x32x8xf16>
  // expected-warning@+1 {{'mp.conv2d' may reach 99960 in f16, which ends at 65504}}
  %0 = mp.conv2d %x, %w : tensor<?x32x32x8xf16>, tensor<16x7x7x8xf16>
  %1 = mp.conv2d %x, %g groups(2) : tensor<?x32x32x8xf16>, tensor<16x7x7x4xf16>
  %2 = mp.conv2d %x, %d groups(8) : tensor<?x32x32x8xf16>, tensor<8x7x7x1xf16>
  // Sums in f32 do not overflow.
  %3 = mp.conv2d %x, %w out_dtype(f32) : tensor<?x32x32x8xf16>, tensor<16x7x7x8xf16>
  return
}

// The terms of an input's gradient are those of the output channels of its group.
func.func @gradients(%image: tensor<4x16x16x24xui8>, %other: tensor<4x22x22x3xui8>, %w: tensor<24x7x7x3xf16>, %u: tensor<24x7x7x1xf16>) {
  %g = mp.cast %image : tensor<4x16x16x24xui8> to tensor<4x16x16x24xf16>
  // expected-warning@+1 {{'mp.conv_transpose2d' may reach 299880 in f16}}
  %0 = mp.conv_transpose2d %g, %w size[22, 22] : tensor<4x16x16x24xf16>, tensor<24x7x7x3xf16>
  // expected-warning@+1 {{'mp.conv2d_backward_input' may reach 299880 in f16}}
  %1 = mp.conv2d_backward_input %g, %w size[22, 22] : tensor<4x16x16x24xf16>, tensor<24x7x7x3xf16>
  // expected-warning@+1 {{'mp.conv2d_backward_input' may reach 99960 in f16}}
  %2 = mp.conv2d_backward_input %g, %u size[22, 22] groups(3) : tensor<4x16x16x24xf16>, tensor<24x7x7x1xf16>
  %3 = mp.conv_transpose2d %g, %u size[22, 22] groups(24) : tensor<4x16x16x24xf16>, tensor<24x7x7x1xf16>
  // The batch and the places of the window: 4 * 16 * 16 terms.
  %x = mp.constant dense<1.0> : tensor<4x22x22x3xf16>
  // expected-warning@+1 {{'mp.conv2d_backward_weight' may reach 261120 in f16}}
  %4 = mp.conv2d_backward_weight %g, %x size[7, 7] : tensor<4x16x16x24xf16>, tensor<4x22x22x3xf16>
  return
}
