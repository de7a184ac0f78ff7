// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s

// A residual branch, its norm and the activation after it are one kernel: 16 bits in, 16 bits out, and two numbers per
// row for backward. Squares are of the differences from a first mean, whose sum corrects it.
// CHECK-LABEL: @layer_norm
func.func @layer_norm(%h: tensor<6x64xf16>, %r: tensor<6x64xf16>, %w: tensor<64xf32>, %b: tensor<64xf32>)
    -> (tensor<6x64xf16>, tensor<6x1xf32>, tensor<6x1xf32>) {
  // CHECK-NEXT: mp.kernel({{.*}}) attributes {ops = "add cast sum div sub sum div mul sum mul mul sub add maximum div add sqrt div sub mul mul add cast relu"} -> (tensor<6x1xf32>, tensor<6x1xf32>, tensor<6x64xf16>)
  // CHECK: %[[GUESS:.*]] = mp.div
  // CHECK: %[[REST:.*]] = mp.sub %[[X:.*]], %[[GUESS]]
  // CHECK: mp.sum %[[REST]]
  // CHECK: mp.mul %[[REST]], %[[REST]]
  // CHECK: %[[MEAN:.*]] = mp.add %[[GUESS]],
  // CHECK: mp.sub %[[X]], %[[MEAN]]
  // CHECK-NOT: mp.kernel(
  // CHECK: return
  %s = mp.add %h, %r : tensor<6x64xf16>, tensor<6x64xf16>
  %y, %mean, %rstd = mp.layer_norm %s weight(%w : tensor<64xf32>) bias(%b : tensor<64xf32>) : tensor<6x64xf16>
  %a = mp.relu %y : tensor<6x64xf16>
  return %a, %mean, %rstd : tensor<6x64xf16>, tensor<6x1xf32>, tensor<6x1xf32>
}

// Under autocast the norm is f32, and so are only values inside of the kernel.
// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<2x3x64xbf16>, %w: tensor<64xf32>) -> tensor<2x3x64xbf16> {
  // CHECK-NEXT: %[[K:.*]] = mp.kernel({{.*}}) attributes {ops = "cast mul sum div add sqrt div mul mul gelu cast"} -> tensor<2x3x64xbf16>
  // CHECK-NOT: mp.kernel(
  // CHECK: return %[[K]]
  %wide = mp.cast %x : tensor<2x3x64xbf16> to tensor<2x3x64xf32>
  %y, %rstd = mp.rms_norm %wide weight(%w : tensor<64xf32>) : tensor<2x3x64xf32>
  %a = mp.gelu %y : tensor<2x3x64xf32>
  %low = mp.cast %a : tensor<2x3x64xf32> to tensor<2x3x64xbf16>
  return %low : tensor<2x3x64xbf16>
}

// Backward too: a row's sums, and sums of columns.
// CHECK-LABEL: @layer_norm_backward
func.func @layer_norm_backward(%g: tensor<6x64xf16>, %x: tensor<6x64xf16>, %mean: tensor<6x1xf32>, %rstd: tensor<6x1xf32>,
    %w: tensor<64xf32>) -> (tensor<6x64xf16>, tensor<64xf32>, tensor<64xf32>) {
  // CHECK-NEXT: mp.kernel({{.*}}) attributes {{.*}} -> (tensor<64xf32>, tensor<64xf32>, tensor<6x64xf16>)
  // CHECK-NOT: mp.kernel(
  // CHECK: return
  %dx, %dw, %db = mp.layer_norm_backward %g, %x, %mean, %rstd weight(%w : tensor<64xf32>)
      : tensor<6x64xf16>, tensor<6x64xf16>, tensor<6x1xf32>, tensor<6x1xf32>
  return %dx, %dw, %db : tensor<6x64xf16>, tensor<64xf32>, tensor<64xf32>
}

// An unused result is not computed.
// CHECK-LABEL: @only_input
func.func @only_input(%g: tensor<6x64xf16>, %x: tensor<6x64xf16>, %rstd: tensor<6x1xf32>) -> tensor<6x64xf16> {
  // CHECK-NEXT: mp.kernel({{.*}}) attributes {{.*}} -> tensor<6x64xf16>
  // CHECK-COUNT-1: mp.sum
  // CHECK-NOT: mp.sum
  // CHECK: return
  %dx, %dw = mp.rms_norm_backward %g, %x, %rstd normalized_shape[64] : tensor<6x64xf16>, tensor<6x64xf16>, tensor<6x1xf32>
  return %dx : tensor<6x64xf16>
}

// An instance norm is rows throughout.
// CHECK-LABEL: @instance_norm
func.func @instance_norm(%x: tensor<2x6x8x8xf16>) -> tensor<2x6x8x8xf16> {
  // CHECK-NEXT: %[[K:.*]] = mp.kernel(%{{.*}} = %{{.*}} : tensor<2x6x8x8xf16>) {{.*}} -> tensor<2x6x8x8xf16>
  // CHECK-NOT: mp.kernel(
  // CHECK: return %[[K]]
  %y, %mean, %rstd = mp.group_norm %x groups(6) : tensor<2x6x8x8xf16>
  %a = mp.relu %y : tensor<2x6x8x8xf16>
  return %a : tensor<2x6x8x8xf16>
}

// Channels of a batch lie apart: one kernel reads the rows and yields moments, a few look at these alone, and one
// normalizes with its neighbours.
// CHECK-LABEL: @batch_norm
func.func @batch_norm(%x: tensor<2x6x8x8xf16>, %r: tensor<2x6x8x8xf16>, %m: tensor<6xf32>, %v: tensor<6xf32>,
    %w: tensor<6xf32>, %b: tensor<6xf32>) -> (tensor<2x6x8x8xf16>, tensor<6xf32>, tensor<6xf32>) {
  // CHECK: mp.kernel(%{{.*}} = %arg0 : tensor<2x6x8x8xf16>) attributes {ops = "cast sum div sub sum mul sum"} -> (tensor<2x6x1x1xf32>, tensor<2x6x1x1xf32>, tensor<2x6x1x1xf32>)
  // CHECK-NOT: 8x8xf32>)
  // CHECK: mp.kernel({{.*}} = %arg0 : tensor<2x6x8x8xf16>{{.*}} = %arg1 : tensor<2x6x8x8xf16>) attributes {ops = "cast sub mul add cast add relu"} -> tensor<2x6x8x8xf16>
  // CHECK: return
  %y, %mean, %rstd, %new_m, %new_v = mp.batch_norm %x, %m, %v weight(%w : tensor<6xf32>) bias(%b : tensor<6xf32>)
      : tensor<2x6x8x8xf16>, tensor<6xf32>, tensor<6xf32>
  %s = mp.add %y, %r : tensor<2x6x8x8xf16>, tensor<2x6x8x8xf16>
  %a = mp.relu %s : tensor<2x6x8x8xf16>
  return %a, %new_m, %new_v : tensor<2x6x8x8xf16>, tensor<6xf32>, tensor<6xf32>
}
