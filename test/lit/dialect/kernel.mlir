// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @predicated
func.func @predicated(%x: tensor<4xf32>, %ok: tensor<i1>) -> tensor<4xf32> {
  // CHECK: mp.kernel(%[[A:.*]] = %{{.*}} : tensor<4xf32>) if %{{.*}} attributes {ops = "exp"} -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.*]] = mp.exp %[[A]]
  // CHECK-NEXT: mp.yield %[[E]] : tensor<4xf32>
  %0 = mp.kernel(%a = %x : tensor<4xf32>) if %ok attributes {ops = "exp"} -> tensor<4xf32> {
    %e = mp.exp %a : tensor<4xf32>
    mp.yield %e : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Inside, the same bytes may have another shape, and integers no sign.
// CHECK-LABEL: @views
func.func @views(%x: tensor<2x3xui8>) -> tensor<2x3xui8> {
  // CHECK: mp.kernel(%{{.*}} = %{{.*}} : tensor<2x3xui8> as tensor<6xi8>) -> tensor<2x3xui8>
  %0 = mp.kernel(%a = %x : tensor<2x3xui8> as tensor<6xi8>) -> tensor<2x3xui8> {
    mp.yield %a : tensor<6xi8>
  }
  return %0 : tensor<2x3xui8>
}

// CHECK-LABEL: @nothing
func.func @nothing() {
  // CHECK: mp.kernel() {
  mp.kernel() {
  }
  return
}
