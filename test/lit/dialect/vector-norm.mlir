// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @norm
// CHECK-SAME: -> (tensor<?xf16>, tensor<?x1xf16>)
func.func @norm(%x: tensor<?x10xf16>) -> (tensor<?xf16>, tensor<?x1xf16>) {
  // CHECK: mp.norm %{{.*}} dims[1] : tensor<?x10xf16>
  %0 = mp.norm %x dims[1] : tensor<?x10xf16>
  // CHECK: mp.norm %{{.*}} dims[1] : tensor<?x10xf16>
  %1 = mp.norm %x dims[1] p(2) : tensor<?x10xf16>
  // CHECK: mp.norm %{{.*}} dims[1] p(inf) : tensor<?x10xf16>
  %2 = mp.norm %x dims[1] p(inf) : tensor<?x10xf16>
  // CHECK: mp.norm %{{.*}} dims[1] p(-inf) : tensor<?x10xf16>
  %3 = mp.norm %x dims[1] p(-inf) : tensor<?x10xf16>
  // CHECK: mp.norm %{{.*}} dims[1] p(5.000000e-01) : tensor<?x10xf16>
  %4 = mp.norm %x dims[1] p(0.5) : tensor<?x10xf16>
  // CHECK: mp.norm %{{.*}} dims[1] keepdim p(-3) : tensor<?x10xf16>
  %5 = mp.norm %x dims[1] keepdim p(-3.0) : tensor<?x10xf16>
  // CHECK: mp.norm_backward %{{.*}}, %{{.*}} dims[1] p(0) : tensor<?xf16>, tensor<?x10xf16>
  %6 = mp.norm_backward %0, %x dims[1] p(0) : tensor<?xf16>, tensor<?x10xf16>
  return %0, %5 : tensor<?xf16>, tensor<?x1xf16>
}

// CHECK-LABEL: @logsumexp
func.func @logsumexp(%x: tensor<4x10xf32>) -> tensor<4x10xf32> {
  // CHECK: mp.logsumexp %{{.*}} dims[1] : tensor<4x10xf32>
  %0 = mp.logsumexp %x dims[1] : tensor<4x10xf32>
  // CHECK: mp.logsumexp_backward %{{.*}}, %{{.*}} dims[1] : tensor<4xf32>, tensor<4x10xf32>
  %1 = mp.logsumexp_backward %0, %x dims[1] : tensor<4xf32>, tensor<4x10xf32>
  return %1 : tensor<4x10xf32>
}

// The norm of no vector is zero.
// CHECK-LABEL: @of_nothing
func.func @of_nothing(%z: tensor<4x0xf32>) {
  %0 = mp.norm %z dims[1] : tensor<4x0xf32>
  %1 = mp.norm %z dims[1] p(0.5) : tensor<4x0xf32>
  return
}
