// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s

// An anchor takes in what follows it alone.
// CHECK-LABEL: @epilogue
func.func @epilogue(%x: tensor<4x8xf16>, %w: tensor<2x8xf16>, %b: tensor<2xf16>) -> tensor<4x2xf16> {
  // CHECK: mp.kernel({{.*}}) attributes {ops = "linear relu"} -> tensor<4x2xf16>
  // CHECK-NOT: mp.kernel(
  %0 = mp.linear %x, %w, %b : tensor<4x8xf16>, tensor<2x8xf16>, tensor<2xf16>
  %1 = mp.relu %0 : tensor<4x2xf16>
  return %1 : tensor<4x2xf16>
}

// Used twice, it is stored; and what would store more bytes is computed where it is used.
// CHECK-LABEL: @stored
func.func @stored(%x: tensor<4x8xf16>, %w: tensor<2x8xf16>) -> (tensor<4x2xf32>, tensor<4x2xf16>) {
  // CHECK: %[[Y:.*]] = mp.kernel({{.*}}) attributes {ops = "linear"} -> tensor<4x2xf16>
  // CHECK: mp.kernel(%{{.*}} = %[[Y]] : tensor<4x2xf16>) attributes {ops = "cast relu"}
  %0 = mp.linear %x, %w : tensor<4x8xf16>, tensor<2x8xf16>
  %1 = mp.cast %0 : tensor<4x2xf16> to tensor<4x2xf32>
  %2 = mp.relu %0 : tensor<4x2xf16>
  return %1, %2 : tensor<4x2xf32>, tensor<4x2xf16>
}

// What an anchor reads is stored before it, a constant too.
// CHECK-LABEL: @operands
func.func @operands(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  // CHECK-DAG: %[[X:.*]] = mp.kernel({{.*}}) attributes {ops = "neg"} -> tensor<4x8xf32>
  // CHECK-DAG: %[[W:.*]] = mp.kernel() attributes {ops = "constant"} -> tensor<2x8xf32>
  // CHECK: mp.kernel(%{{.*}} = %[[X]] : tensor<4x8xf32>, %{{.*}} = %[[W]] : tensor<2x8xf32>)
  %w = mp.constant dense<1.0> : tensor<2x8xf32>
  %0 = mp.neg %x : tensor<4x8xf32>
  %1 = mp.linear %0, %w : tensor<4x8xf32>, tensor<2x8xf32>
  return %1 : tensor<4x2xf32>
}

// A transpose that moves elements is a kernel of its own.
// CHECK-LABEL: @transpose
func.func @transpose(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // CHECK: ops = "neg"
  // CHECK: ops = "transpose"
  // CHECK: ops = "exp"
  %0 = mp.neg %x : tensor<4x8xf32>
  %1 = mp.transpose %0 [1, 0] : tensor<4x8xf32>
  %2 = mp.exp %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
