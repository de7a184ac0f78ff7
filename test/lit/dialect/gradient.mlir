// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @gradient
func.func @gradient(%l: tensor<f32>, %x: tensor<?x3xf32>, %h: tensor<4xf16>) -> tensor<?x3xf32> {
  // CHECK: %[[ONE:.*]] = mp.gradient %{{.*}} of %{{.*}} : tensor<f32>, tensor<?x3xf32>
  %0 = mp.gradient %l of %x : tensor<f32>, tensor<?x3xf32>
  // CHECK: %{{.*}}:2 = mp.gradient %{{.*}} of %{{.*}}, %{{.*}} : tensor<f32>, tensor<?x3xf32>, tensor<4xf16>
  %1, %2 = mp.gradient %l of %x, %h : tensor<f32>, tensor<?x3xf32>, tensor<4xf16>
  // CHECK: return %[[ONE]]
  return %0 : tensor<?x3xf32>
}
