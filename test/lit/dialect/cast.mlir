// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @cast
func.func @cast(%x: tensor<?x4xui8>, %h: tensor<f16>, %f: tensor<2xi1>) {
  // CHECK: mp.cast %{{.*}} : tensor<?x4xui8> to tensor<?x4xf32>
  %0 = mp.cast %x : tensor<?x4xui8> to tensor<?x4xf32>
  // CHECK: mp.cast %{{.*}} : tensor<f16> to tensor<bf16>
  %1 = mp.cast %h : tensor<f16> to tensor<bf16>
  // CHECK: mp.cast %{{.*}} : tensor<2xi1> to tensor<2xi64>
  %2 = mp.cast %f : tensor<2xi1> to tensor<2xi64>
  return
}
