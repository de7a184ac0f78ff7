// RUN: mp-opt %s --pass-pipeline="builtin.module(func.func(mp-fuse))" | FileCheck %s

// The loops of a kernel are over rows and columns. What is normalised are rows of 64, of which there are 8 * 16; the
// gradient of what was added to each of 8 sums rows of 16 * 64, so it is a kernel of its own.
// CHECK-LABEL: func.func @position
// CHECK: %[[D:.*]] = mp.kernel({{.*}}) attributes {ops = "sum sub"} -> tensor<8x16x64xf32>
// CHECK: mp.kernel({{.*}} = %[[D]] : {{.*}}) attributes {ops = "sum"} -> tensor<16x64xf32>
func.func @position(%x: tensor<8x16x64xf32>) -> (tensor<8x16x64xf32>, tensor<16x64xf32>) {
  %a = mp.sum %x dims[2] keepdim : tensor<8x16x64xf32>
  %d = mp.sub %x, %a : tensor<8x16x64xf32>, tensor<8x16x1xf32>
  %p = mp.sum %d dims[0] : tensor<8x16x64xf32>
  return %d, %p : tensor<8x16x64xf32>, tensor<16x64xf32>
}

// Sums of all rows and of all columns are of the same matrix.
// CHECK-LABEL: func.func @bias
// CHECK: mp.kernel({{.*}}) attributes {ops = "sum sub sum"} -> (tensor<8x16x64xf32>, tensor<64xf32>)
// CHECK-NOT: mp.kernel
func.func @bias(%x: tensor<8x16x64xf32>) -> (tensor<8x16x64xf32>, tensor<64xf32>) {
  %a = mp.sum %x dims[2] keepdim : tensor<8x16x64xf32>
  %d = mp.sub %x, %a : tensor<8x16x64xf32>, tensor<8x16x1xf32>
  %p = mp.sum %d dims[0, 1] : tensor<8x16x64xf32>
  return %d, %p : tensor<8x16x64xf32>, tensor<64xf32>
}
