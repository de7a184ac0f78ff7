// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt -mlir-print-op-generic %s | mp-opt | FileCheck %s

// CHECK-LABEL: @sort
func.func @sort(%x: tensor<?x3x10xf16>, %n: tensor<7xi64>, %e: tensor<0x0xf32>) {
  // CHECK: mp.sort %{{.*}} dim(1) : tensor<?x3x10xf16>
  %0, %1 = mp.sort %x dim(1) : tensor<?x3x10xf16>
  // CHECK: mp.sort %{{.*}} dim(0) descending : tensor<7xi64>
  %2, %3 = mp.sort %n dim(0) descending : tensor<7xi64>
  // CHECK: mp.sort %{{.*}} dim(0) : tensor<0x0xf32>
  %4, %5 = mp.sort %e dim(0) : tensor<0x0xf32>
  return
}

// CHECK-LABEL: @top_k
// CHECK-SAME: -> (tensor<?x2x10xbf16>, tensor<?x2x10xi32>, tensor<0xi32>, tensor<0xi32>)
func.func @top_k(%x: tensor<?x3x10xbf16>, %n: tensor<7xi32>)
    -> (tensor<?x2x10xbf16>, tensor<?x2x10xi32>, tensor<0xi32>, tensor<0xi32>) {
  // CHECK: mp.top_k %{{.*}} k(2) dim(1) : tensor<?x3x10xbf16>
  %0, %1 = mp.top_k %x k(2) dim(1) : tensor<?x3x10xbf16>
  // CHECK: mp.top_k %{{.*}} k(0) dim(0) smallest : tensor<7xi32>
  %2, %3 = mp.top_k %n k(0) dim(0) smallest : tensor<7xi32>
  return %0, %1, %2, %3 : tensor<?x2x10xbf16>, tensor<?x2x10xi32>, tensor<0xi32>, tensor<0xi32>
}

// CHECK-LABEL: @argsort
// CHECK-SAME: -> (tensor<?x10xi32>, tensor<?x4xi32>)
func.func @argsort(%x: tensor<?x10xf64>) -> (tensor<?x10xi32>, tensor<?x4xi32>) {
  // CHECK: mp.argsort %{{.*}} : tensor<?x10xf64>
  %0 = mp.argsort %x : tensor<?x10xf64>
  // CHECK: mp.argsort %{{.*}} descending k(4) : tensor<?x10xf64>
  %1 = mp.argsort %x descending k(4) : tensor<?x10xf64>
  return %0, %1 : tensor<?x10xi32>, tensor<?x4xi32>
}
