// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s

// An anchor takes in the ops after it.
// CHECK-LABEL: @epilogue
func.func @epilogue(%x: tensor<4x8xf16>, %w: tensor<2x8xf16>, %b: tensor<2xf16>) -> tensor<4x2xf16> {
  // CHECK: mp.kernel({{.*}}) attributes {ops = "linear relu"} -> tensor<4x2xf16>
  // CHECK-NOT: mp.kernel(
  %0 = mp.linear %x, %w, %b : tensor<4x8xf16>, tensor<2x8xf16>, tensor<2xf16>
  %1 = mp.relu %0 : tensor<4x2xf16>
  return %1 : tensor<4x2xf16>
}

// If the result is used twice, both users still run at its elements.
// CHECK-LABEL: @twice
func.func @twice(%x: tensor<4x8xf16>, %w: tensor<2x8xf16>) -> (tensor<4x2xf32>, tensor<4x2xf16>) {
  // CHECK: mp.kernel({{.*}}) attributes {ops = "linear cast relu"} -> (tensor<4x2xf32>, tensor<4x2xf16>)
  // CHECK-NOT: mp.kernel(
  %0 = mp.linear %x, %w : tensor<4x8xf16>, tensor<2x8xf16>
  %1 = mp.cast %0 : tensor<4x2xf16> to tensor<4x2xf32>
  %2 = mp.relu %0 : tensor<4x2xf16>
  return %1, %2 : tensor<4x2xf32>, tensor<4x2xf16>
}

// A residual, a bias in another type, the value before the activation.
// CHECK-LABEL: @residual
func.func @residual(%x: tensor<4x8xf16>, %w: tensor<2x8xf16>, %b: tensor<2xf32>, %r: tensor<4x2xf16>)
    -> (tensor<4x2xf16>, tensor<4x2xf16>) {
  // CHECK: mp.kernel({{.*}}) attributes {ops = "linear cast add cast add gelu"} -> (tensor<4x2xf16>, tensor<4x2xf16>)
  // CHECK-NOT: mp.kernel(
  %0 = mp.linear %x, %w : tensor<4x8xf16>, tensor<2x8xf16>
  %1 = mp.cast %0 : tensor<4x2xf16> to tensor<4x2xf32>
  %2 = mp.add %1, %b : tensor<4x2xf32>, tensor<2xf32>
  %3 = mp.cast %2 : tensor<4x2xf32> to tensor<4x2xf16>
  %4 = mp.add %3, %r : tensor<4x2xf16>, tensor<4x2xf16>
  %5 = mp.gelu %4 : tensor<4x2xf16>
  return %4, %5 : tensor<4x2xf16>, tensor<4x2xf16>
}

// The check and the norm of a gradient, the sums of its columns; not an op that needs a sum.
// CHECK-LABEL: @sums
func.func @sums(%x: tensor<8x4xf32>, %y: tensor<8x2xf32>) -> (tensor<i1>, tensor<f32>, tensor<2xf32>, tensor<4x2xf32>) {
  // CHECK: %[[G:.*]]:4 = mp.kernel({{.*}}) attributes {ops = "matmul is_finite not any mul sum sum"} -> (tensor<4x2xf32>, tensor<i1>, tensor<f32>, tensor<2xf32>)
  // CHECK: mp.kernel({{.*}} = %[[G]]#0 : tensor<4x2xf32>, %{{.*}} = %[[G]]#2 : tensor<f32>) attributes {ops = "div"}
  %0 = mp.matmul %x, %y transpose_a : tensor<8x4xf32>, tensor<8x2xf32>
  %1 = mp.is_finite %0 : tensor<4x2xf32>
  %2 = mp.not %1 : tensor<4x2xi1>
  %3 = mp.any %2 dims[0, 1] : tensor<4x2xi1>
  %4 = mp.mul %0, %0 : tensor<4x2xf32>, tensor<4x2xf32>
  %5 = mp.sum %4 dims[0, 1] : tensor<4x2xf32>
  %6 = mp.sum %0 dims[0] : tensor<4x2xf32>
  %7 = mp.div %0, %5 : tensor<4x2xf32>, tensor<f32>
  return %3, %5, %6, %7 : tensor<i1>, tensor<f32>, tensor<2xf32>, tensor<4x2xf32>
}

// No tile has whole rows, and a group joins whole or not at all.
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  // CHECK: mp.kernel({{.*}}) attributes {ops = "linear"}
  // CHECK: mp.kernel({{.*}}) attributes {ops = "sum sum"}
  %0 = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %1 = mp.sum %0 dims[1] : tensor<4x2xf32>
  %2 = mp.sum %0 dims[0] : tensor<4x2xf32>
  return %1, %2 : tensor<4xf32>, tensor<2xf32>
}

// An optimizer's update stays in a kernel that can write its variable in place.
// CHECK-LABEL: @update
mp.variable @w : tensor<4x2xf32> = #mp.init<zeros>
func.func @update(%x: tensor<8x4xf32>, %y: tensor<8x2xf32>) {
  // CHECK: mp.kernel({{.*}}) attributes {ops = "matmul"}
  // CHECK: mp.kernel({{.*}}) attributes {ops = "sub"}
  %0 = mp.matmul %x, %y transpose_a : tensor<8x4xf32>, tensor<8x2xf32>
  %1 = mp.read @w : tensor<4x2xf32>
  %2 = mp.sub %1, %0 : tensor<4x2xf32>, tensor<4x2xf32>
  mp.write @w, %2 : tensor<4x2xf32>
  return
}

// With two products, the later one takes the op: the earlier result is stored then.
// CHECK-LABEL: @two
func.func @two(%x: tensor<4x8xf32>, %v: tensor<2x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
  // CHECK: %[[A:.*]] = mp.kernel({{.*}}) attributes {ops = "linear"}
  // CHECK: mp.kernel({{.*}}%[[A]] : tensor<4x2xf32>{{.*}}) attributes {ops = "linear add"}
  %0 = mp.linear %x, %v : tensor<4x8xf32>, tensor<2x8xf32>
  %1 = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %2 = mp.add %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// An op that depends on the product through another kernel cannot join it.
// CHECK-LABEL: @round_about
func.func @round_about(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
  // CHECK: ops = "linear max"
  // CHECK: ops = "neg"
  // CHECK: ops = "sub"
  %0 = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %1 = mp.max %0 dims[0, 1] : tensor<4x2xf32>
  %2 = mp.neg %1 : tensor<f32>
  %3 = mp.sub %0, %2 : tensor<4x2xf32>, tensor<f32>
  return %3 : tensor<4x2xf32>
}

// The operands of an anchor are stored before it, a constant too.
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
