// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s

// A cheap value that two kernels use is computed in both.
// CHECK-LABEL: @cheap
func.func @cheap(%x: tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>) {
  // CHECK: ops = "relu sum"
  // CHECK: ops = "relu div"
  %0 = mp.relu %x : tensor<4x8xf32>
  %1 = mp.sum %0 dims[0, 1] : tensor<4x8xf32>
  %2 = mp.div %0, %1 : tensor<4x8xf32>, tensor<f32>
  return %1, %2 : tensor<f32>, tensor<4x8xf32>
}

// An exponential is stored.
// CHECK-LABEL: @expensive
func.func @expensive(%x: tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>) {
  // CHECK: %[[K:.*]]:2 = mp.kernel({{.*}}) attributes {ops = "exp sum"} -> (tensor<4x8xf32>, tensor<f32>)
  // CHECK: mp.kernel({{.*}} = %[[K]]#0 : tensor<4x8xf32>{{.*}}) attributes {ops = "div"}
  %0 = mp.exp %x : tensor<4x8xf32>
  %1 = mp.sum %0 dims[0, 1] : tensor<4x8xf32>
  %2 = mp.div %0, %1 : tensor<4x8xf32>, tensor<f32>
  return %1, %2 : tensor<f32>, tensor<4x8xf32>
}

// A reshape moves in front of an op that it would keep out of a kernel.
// CHECK-LABEL: @hoist
func.func @hoist(%x: tensor<4x2x4xui8>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = mp.reshape %{{.*}} : tensor<4x2x4xui8> to tensor<4x8xui8>
  // CHECK-NEXT: mp.kernel(%{{.*}} = %[[R]] : tensor<4x8xui8>) attributes {ops = "cast div"} -> tensor<4x8xf32>
  %p = mp.cast %x : tensor<4x2x4xui8> to tensor<4x2x4xf32>
  %r = mp.reshape %p : tensor<4x2x4xf32> to tensor<4x8xf32>
  %c = mp.constant dense<2.0> : tensor<f32>
  %d = mp.div %r, %c : tensor<4x8xf32>, tensor<f32>
  return %d : tensor<4x8xf32>
}
