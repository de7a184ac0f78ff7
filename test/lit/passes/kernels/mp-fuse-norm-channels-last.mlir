// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s

// Images are read by sums of columns, once for a first mean and once for moments, and by the kernel that normalizes; a
// fourth kernel looks at a number a channel. No image is stored but the result.
// CHECK-LABEL: @batch_norm
func.func @batch_norm(%x: tensor<2x8x8x6xf16>, %r: tensor<2x8x8x6xf16>, %m: tensor<6xf32>, %v: tensor<6xf32>,
    %w: tensor<6xf32>, %b: tensor<6xf32>) -> (tensor<2x8x8x6xf16>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  // CHECK: mp.kernel(%{{.*}} = %arg0 : tensor<2x8x8x6xf16>) attributes {ops = "cast sum"} -> tensor<1x1x1x6xf32>
  // CHECK: mp.kernel({{.*}} = %arg0 : tensor<2x8x8x6xf16>{{.*}}) attributes {ops = "cast div sub sum mul sum"} -> (tensor<1x1x1x6xf32>, tensor<1x1x1x6xf32>)
  // CHECK: mp.kernel({{.*}}) attributes {{.*}} -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  // CHECK: mp.kernel({{.*}} = %arg0 : tensor<2x8x8x6xf16>{{.*}} = %arg1 : tensor<2x8x8x6xf16>) attributes {ops = "cast sub mul mul add cast add relu"} -> tensor<2x8x8x6xf16>
  // CHECK-NOT: mp.kernel(
  // CHECK: return
  %y:5 = mp.batch_norm %x, %m, %v channel_dim(3) weight(%w : tensor<6xf32>) bias(%b : tensor<6xf32>)
      : tensor<2x8x8x6xf16>, tensor<6xf32>, tensor<6xf32>
  %s = mp.add %y#0, %r : tensor<2x8x8x6xf16>, tensor<2x8x8x6xf16>
  %a = mp.relu %s : tensor<2x8x8x6xf16>
  return %a, %y#1, %y#2, %y#3, %y#4 : tensor<2x8x8x6xf16>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// Backward reads them twice: for the sums of all gradients, and for that of the images.
// CHECK-LABEL: @batch_norm_backward
// CHECK-SAME: %arg0: tensor<2x8x8x6xf16>, %arg1: tensor<2x8x8x6xf16>
// CHECK: mp.kernel({{.*}}8x8x6xf16>{{.*}} -> (tensor<1x1x1x6xf32>, tensor<1x1x1x6xf32>)
// CHECK-NOT: mp.kernel({{.*}}8x8x6xf16>
// CHECK: mp.kernel({{.*}}8x8x6xf16>{{.*}} -> tensor<2x8x8x6xf16>
// CHECK-NOT: mp.kernel({{.*}}8x8x6xf16>
// CHECK: return
func.func @batch_norm_backward(%g: tensor<2x8x8x6xf16>, %x: tensor<2x8x8x6xf16>, %m: tensor<6xf32>, %v: tensor<6xf32>,
    %w: tensor<6xf32>) -> (tensor<2x8x8x6xf16>, tensor<6xf32>, tensor<6xf32>) {
  %d:3 = mp.batch_norm_backward %g, %x, %m, %v channel_dim(3) weight(%w : tensor<6xf32>)
      : tensor<2x8x8x6xf16>, tensor<2x8x8x6xf16>, tensor<6xf32>, tensor<6xf32>
  return %d#0, %d#1, %d#2 : tensor<2x8x8x6xf16>, tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: @inference
// CHECK-COUNT-1: mp.kernel(
// CHECK-NOT: mp.kernel(
// CHECK: return
func.func @inference(%x: tensor<2x8x8x6xf16>, %m: tensor<6xf32>, %v: tensor<6xf32>) -> tensor<2x8x8x6xf16> {
  %y = mp.batch_norm_inference %x, %m, %v channel_dim(3) : tensor<2x8x8x6xf16>, tensor<6xf32>, tensor<6xf32>
  %a = mp.relu %y : tensor<2x8x8x6xf16>
  return %a : tensor<2x8x8x6xf16>
}

// A number of a sample's channel is neither one of rows nor one of columns: images are transposed, in their own type.
// CHECK-LABEL: @group_norm
// CHECK: mp.kernel({{.*}} = %arg0 : tensor<2x8x8x6xf16>) attributes {ops = "transpose"} -> tensor<2x6x8x8xf16>
// CHECK: mp.kernel({{.*}}) attributes {ops = "cast sum div sub sum div mul sum"} -> (tensor<2x6x1x1xf32>, tensor<2x6x1x1xf32>, tensor<2x6x1x1xf32>)
// CHECK: mp.kernel({{.*}}) attributes {ops = "cast sub mul mul cast"} -> tensor<2x6x8x8xf16>
// CHECK: mp.kernel({{.*}}) attributes {ops = "transpose"} -> tensor<2x8x8x6xf16>
func.func @group_norm(%x: tensor<2x8x8x6xf16>, %w: tensor<6xf32>) -> tensor<2x8x8x6xf16> {
  %y:3 = mp.group_norm %x groups(3) channel_dim(3) weight(%w : tensor<6xf32>) : tensor<2x8x8x6xf16>
  return %y#0 : tensor<2x8x8x6xf16>
}

// CHECK-LABEL: @group_norm_backward
// CHECK-COUNT-2: attributes {ops = "transpose"} -> tensor<2x6x8x8xf16>
// CHECK: attributes {ops = "transpose"} -> tensor<2x8x8x6xf16>
func.func @group_norm_backward(%g: tensor<2x8x8x6xf16>, %x: tensor<2x8x8x6xf16>, %s: tensor<2x3xf32>) -> tensor<2x8x8x6xf16> {
  %d:3 = mp.group_norm_backward %g, %x, %s, %s groups(3) channel_dim(3)
      : tensor<2x8x8x6xf16>, tensor<2x8x8x6xf16>, tensor<2x3xf32>, tensor<2x3xf32>
  return %d#0 : tensor<2x8x8x6xf16>
}

// Of large images, kernels of channels compute what those of images would compute for each element: the first mean, and
// then mean and weight / deviation.
// CHECK-LABEL: @large_images
// CHECK: attributes {ops = "cast sum"} -> tensor<1x1x1x16xf32>
// CHECK: attributes {ops = "div"} -> tensor<1x1x1x16xf32>
// CHECK: attributes {ops = "cast sub sum mul sum"} -> (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>)
// CHECK: attributes {ops = "div mul mul sub add maximum div add sqrt div mul"} -> (tensor<1x1x1x16xf32>, tensor<16xf32>)
// CHECK: attributes {ops = "cast sub mul add cast relu"} -> tensor<4x16x16x16xf16>
// CHECK-NOT: mp.kernel(
// CHECK: return
func.func @large_images(%x: tensor<4x16x16x16xf16>, %m: tensor<16xf32>, %v: tensor<16xf32>, %w: tensor<16xf32>,
    %b: tensor<16xf32>) -> tensor<4x16x16x16xf16> {
  %y:5 = mp.batch_norm %x, %m, %v channel_dim(3) weight(%w : tensor<16xf32>) bias(%b : tensor<16xf32>)
      : tensor<4x16x16x16xf16>, tensor<16xf32>, tensor<16xf32>
  %a = mp.relu %y#0 : tensor<4x16x16x16xf16>
  return %a : tensor<4x16x16x16xf16>
}
