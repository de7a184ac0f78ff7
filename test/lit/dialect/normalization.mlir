// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<?x3x8xf16>, %w: tensor<8xf32>, %w2: tensor<3x8xf32>) {
  // CHECK: mp.layer_norm %{{.*}} weight(%{{.*}} : tensor<8xf32>) bias(%{{.*}} : tensor<8xf32>) : tensor<?x3x8xf16>
  %y:3 = mp.layer_norm %x weight(%w : tensor<8xf32>) bias(%w : tensor<8xf32>) : tensor<?x3x8xf16>
  // CHECK: mp.layer_norm %{{.*}} bias(%{{.*}} : tensor<3x8xf32>) {eps = 1.000000e-03 : f64} : tensor<?x3x8xf16>
  %z:3 = mp.layer_norm %x bias(%w2 : tensor<3x8xf32>) {eps = 1.0e-3} : tensor<?x3x8xf16>
  // CHECK: mp.layer_norm %{{.*}} normalized_shape[8] : tensor<?x3x8xf16>
  %n:3 = mp.layer_norm %x normalized_shape[8] : tensor<?x3x8xf16>
  // CHECK: mp.layer_norm_backward %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<8xf32>) : tensor<?x3x8xf16>, tensor<?x3x8xf16>, tensor<?x3x1xf32>, tensor<?x3x1xf32>
  %d:3 = mp.layer_norm_backward %y#0, %x, %y#1, %y#2 weight(%w : tensor<8xf32>)
      : tensor<?x3x8xf16>, tensor<?x3x8xf16>, tensor<?x3x1xf32>, tensor<?x3x1xf32>
  // CHECK: mp.layer_norm_backward {{.*}} normalized_shape[3, 8] : {{.*}}, tensor<?x1x1xf32>, tensor<?x1x1xf32>
  %e:3 = mp.layer_norm_backward %z#0, %x, %z#1, %z#2 normalized_shape[3, 8]
      : tensor<?x3x8xf16>, tensor<?x3x8xf16>, tensor<?x1x1xf32>, tensor<?x1x1xf32>
  return
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<4x8xbf16>, %w: tensor<8xf32>) {
  // CHECK: mp.rms_norm %{{.*}} weight(%{{.*}} : tensor<8xf32>) : tensor<4x8xbf16>
  %y:2 = mp.rms_norm %x weight(%w : tensor<8xf32>) : tensor<4x8xbf16>
  // CHECK: mp.rms_norm %{{.*}} normalized_shape[4, 8] {eps = 0.000000e+00 : f64} : tensor<4x8xbf16>
  %z:2 = mp.rms_norm %x normalized_shape[4, 8] {eps = 0.0} : tensor<4x8xbf16>
  // CHECK: mp.rms_norm_backward %{{.*}}, %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<8xf32>) : tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x1xf32>
  %d:2 = mp.rms_norm_backward %y#0, %x, %y#1 weight(%w : tensor<8xf32>) : tensor<4x8xbf16>, tensor<4x8xbf16>, tensor<4x1xf32>
  return
}

// CHECK-LABEL: @group_norm
func.func @group_norm(%x: tensor<?x6x5x5xf32>, %w: tensor<6xf32>) {
  // CHECK: mp.group_norm %{{.*}} groups(3) weight(%{{.*}} : tensor<6xf32>) bias(%{{.*}} : tensor<6xf32>) : tensor<?x6x5x5xf32>
  %y:3 = mp.group_norm %x groups(3) weight(%w : tensor<6xf32>) bias(%w : tensor<6xf32>) : tensor<?x6x5x5xf32>
  // CHECK: mp.group_norm_backward {{.*}} groups(3) : {{.*}}, tensor<?x3xf32>, tensor<?x3xf32>
  %d:3 = mp.group_norm_backward %y#0, %x, %y#1, %y#2 groups(3)
      : tensor<?x6x5x5xf32>, tensor<?x6x5x5xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  return
}

// CHECK-LABEL: @batch_norm
func.func @batch_norm(%x: tensor<?x6x5x5xf16>, %f: tensor<6xf32>, %d64: tensor<3x2xf64>, %c: tensor<2xf64>) {
  // CHECK: mp.batch_norm %{{.*}}, %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<6xf32>) bias(%{{.*}} : tensor<6xf32>) : tensor<?x6x5x5xf16>, tensor<6xf32>, tensor<6xf32>
  %y:5 = mp.batch_norm %x, %f, %f weight(%f : tensor<6xf32>) bias(%f : tensor<6xf32>) : tensor<?x6x5x5xf16>, tensor<6xf32>, tensor<6xf32>
  // CHECK: mp.batch_norm %{{.*}}, %{{.*}}, %{{.*}} {momentum = 5.000000e-01 : f64} : tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>
  %z:5 = mp.batch_norm %d64, %c, %c {momentum = 0.5} : tensor<3x2xf64>, tensor<2xf64>, tensor<2xf64>
  // CHECK: mp.batch_norm_backward {{.*}} : tensor<?x6x5x5xf16>, tensor<?x6x5x5xf16>, tensor<6xf32>, tensor<6xf32>
  %d:3 = mp.batch_norm_backward %y#0, %x, %y#1, %y#2 : tensor<?x6x5x5xf16>, tensor<?x6x5x5xf16>, tensor<6xf32>, tensor<6xf32>
  // CHECK: mp.batch_norm_inference %{{.*}}, %{{.*}}, %{{.*}} weight(%{{.*}} : tensor<6xf32>) : tensor<?x6x5x5xf16>, tensor<6xf32>, tensor<6xf32>
  %i = mp.batch_norm_inference %x, %f, %f weight(%f : tensor<6xf32>) : tensor<?x6x5x5xf16>, tensor<6xf32>, tensor<6xf32>
  return
}

// The channels may be in any dimension but that of the batch.
// CHECK-LABEL: @channel_dim
func.func @channel_dim(%x: tensor<?x5x4x6xf16>, %f: tensor<6xf32>, %m: tensor<?x5x6x4xf32>) {
  // CHECK: mp.batch_norm %{{.*}}, %{{.*}}, %{{.*}} channel_dim(3) weight(%{{.*}} : tensor<6xf32>) : tensor<?x5x4x6xf16>, tensor<6xf32>, tensor<6xf32>
  %y:5 = mp.batch_norm %x, %f, %f channel_dim(3) weight(%f : tensor<6xf32>) : tensor<?x5x4x6xf16>, tensor<6xf32>, tensor<6xf32>
  // CHECK: mp.batch_norm_backward {{.*}} channel_dim(3) weight(%{{.*}} : tensor<6xf32>) : tensor<?x5x4x6xf16>, tensor<?x5x4x6xf16>, tensor<6xf32>, tensor<6xf32>
  %d:3 = mp.batch_norm_backward %y#0, %x, %y#1, %y#2 channel_dim(3) weight(%f : tensor<6xf32>) : tensor<?x5x4x6xf16>, tensor<?x5x4x6xf16>, tensor<6xf32>, tensor<6xf32>
  // CHECK: mp.batch_norm_inference %{{.*}}, %{{.*}}, %{{.*}} channel_dim(2) bias(%{{.*}} : tensor<6xf32>) : tensor<?x5x6x4xf32>, tensor<6xf32>, tensor<6xf32>
  %i = mp.batch_norm_inference %m, %f, %f channel_dim(2) bias(%f : tensor<6xf32>) : tensor<?x5x6x4xf32>, tensor<6xf32>, tensor<6xf32>
  // CHECK: mp.group_norm %{{.*}} groups(3) channel_dim(3) bias(%{{.*}} : tensor<6xf32>) : tensor<?x5x4x6xf16>
  %g:3 = mp.group_norm %x groups(3) channel_dim(3) bias(%f : tensor<6xf32>) : tensor<?x5x4x6xf16>
  // CHECK: mp.group_norm_backward {{.*}} groups(3) channel_dim(3) : {{.*}}, tensor<?x3xf32>, tensor<?x3xf32>
  %e:3 = mp.group_norm_backward %g#0, %x, %g#1, %g#2 groups(3) channel_dim(3) : tensor<?x5x4x6xf16>, tensor<?x5x4x6xf16>, tensor<?x3xf32>, tensor<?x3xf32>
  return
}
