// RUN: mp-translate --mp-to-program --mp-goal=run %s | FileCheck %s

// What follows a convolution on the CPU is a kernel in rows and columns, as it is without one:
// the cast is not stored, and the tasks share the sum.

// CHECK: entry f batch 0
func.func @f(%x: tensor<32x8x8x64xbf16>, %w: tensor<64x1x1x64xbf16>)
    -> (tensor<32x8x8x64xbf16>, tensor<1x1x1x64xf32>) {
  // CHECK: launch {{.*}} input0+0 {{.*}} arena+[[Y:[0-9]+]] ; conv2d
  // CHECK-NEXT: launch {{.*}} grid 64 {{.*}} arena+[[Y]] arena+{{[0-9]+}} ; cast sum
  // CHECK-NOT: launch
  %y = mp.conv2d %x, %w : tensor<32x8x8x64xbf16>, tensor<64x1x1x64xbf16>
  %wide = mp.cast %y : tensor<32x8x8x64xbf16> to tensor<32x8x8x64xf32>
  %sums = mp.sum %wide dims[0, 1, 2] keepdim : tensor<32x8x8x64xf32>
  return %y, %sums : tensor<32x8x8x64xbf16>, tensor<1x1x1x64xf32>
}
