// RUN: mp-translate --mp-to-program --mp-goal=run %s | FileCheck %s

// The CPU's contraction takes in a relu at most; other stages become a kernel that follows, in
// one dimension if possible.

// CHECK: entry f batch 0
func.func @f(%x: tensor<8x4xf16>, %w: tensor<16x4xf16>, %s: tensor<8x16xf16>, %v: tensor<8x16xf16>, %b: tensor<16xf16>)
    -> (tensor<8x16xf16>, tensor<16xf32>, tensor<16x16xf32>) {
  // CHECK: launch {{.*}} arena+[[Y:[0-9]+]] ; linear
  // CHECK-NEXT: launch {{.*}} arena+[[Y]] input2+0 arena+[[G:[0-9]+]] arena+[[SUMS:[0-9]+]] ; relu_backward cast sum
  %y = mp.linear %x, %w : tensor<8x4xf16>, tensor<16x4xf16>
  %g = mp.relu_backward %y, %s : tensor<8x16xf16>, tensor<8x16xf16>
  %wide = mp.cast %g : tensor<8x16xf16> to tensor<8x16xf32>
  %sums = mp.sum %wide dims[0] : tensor<8x16xf32>

  // Both values that are used later are passed on.
  // CHECK: launch {{.*}} ; matmul
  // CHECK-NEXT: launch {{.*}} grid 256 {{.*}} ; cast mul
  %p = mp.matmul %g, %v transpose_a : tensor<8x16xf16>, tensor<8x16xf16>
  %q = mp.cast %p : tensor<16x16xf16> to tensor<16x16xf32>
  %r = mp.mul %q, %q : tensor<16x16xf32>, tensor<16x16xf32>
  return %g, %sums, %r : tensor<8x16xf16>, tensor<16xf32>, tensor<16x16xf32>
}
