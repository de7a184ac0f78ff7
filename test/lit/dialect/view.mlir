// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @views
func.func @views(%x: tensor<?x28x28xf32>, %n: tensor<f32>, %m: tensor<4x3xi1>) -> tensor<?x784xf32> {
  // CHECK: mp.reshape %{{.*}} : tensor<?x28x28xf32> to tensor<?x784xf32>
  %0 = mp.reshape %x : tensor<?x28x28xf32> to tensor<?x784xf32>
  // CHECK: mp.reshape %{{.*}} : tensor<f32> to tensor<1x1xf32>
  %1 = mp.reshape %n : tensor<f32> to tensor<1x1xf32>
  // CHECK: mp.transpose %{{.*}} [0, 2, 1] : tensor<?x28x28xf32>
  %2 = mp.transpose %x [0, 2, 1] : tensor<?x28x28xf32>
  // CHECK: mp.transpose %{{.*}} [] : tensor<f32>
  %3 = mp.transpose %n [] : tensor<f32>
  // CHECK: mp.broadcast %{{.*}} : tensor<4x3xi1> to tensor<2x4x3xi1>
  %4 = mp.broadcast %m : tensor<4x3xi1> to tensor<2x4x3xi1>
  return %0 : tensor<?x784xf32>
}

// Sizes of zero, and more elements than a machine has.
// CHECK-LABEL: @corners
func.func @corners(%z: tensor<0x4xf32>, %x: tensor<281474976710656xf32>) {
  // CHECK: mp.reshape %{{.*}} : tensor<0x4xf32> to tensor<7x0xf32>
  %0 = mp.reshape %z : tensor<0x4xf32> to tensor<7x0xf32>
  // CHECK: mp.reshape %{{.*}} : tensor<281474976710656xf32> to tensor<2x140737488355328xf32>
  %1 = mp.reshape %x : tensor<281474976710656xf32> to tensor<2x140737488355328xf32>
  return
}
