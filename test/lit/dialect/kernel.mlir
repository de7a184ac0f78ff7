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

// A kernel reads a part of a tensor and writes parts of another one.
// CHECK-LABEL: @parts
func.func @parts(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[P:.*]] = mp.part %{{.*}} at 2 : tensor<2x8xf32> to tensor<2x2xf32, #mp.rows<count = 2, stride = 8, aligned = 2>>
  %p = mp.part %x at 2 : tensor<2x8xf32> to tensor<2x2xf32, #mp.rows<count = 2, stride = 8, aligned = 2>>
  // CHECK: mp.kernel(%{{.*}} = %[[P]] : tensor<2x2xf32, #mp.rows<count = 2, stride = 8, aligned = 2>> as tensor<2x2xf32>)
  %k:2 = mp.kernel(%a = %p : tensor<2x2xf32, #mp.rows<count = 2, stride = 8, aligned = 2>> as tensor<2x2xf32>)
      -> (tensor<2x2xf32, #mp.rows<count = 2, stride = 4>>, tensor<2x2xf32, #mp.rows<count = 2, stride = 4>>) {
    %b = mp.neg %a : tensor<2x2xf32>
    mp.yield %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
  }
  // CHECK: mp.assemble %{{.*}}#0, %{{.*}}#1 at [0, 2]
  %r = mp.assemble %k#0, %k#1 at [0, 2] : tensor<2x2xf32, #mp.rows<count = 2, stride = 4>>,
      tensor<2x2xf32, #mp.rows<count = 2, stride = 4>> to tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
