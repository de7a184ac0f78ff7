// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse,mp-fuse))' | FileCheck %s

// A chain is one kernel; a value used outside is yielded.
// CHECK-LABEL: @chain
func.func @chain(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[K:.*]]:2 = mp.kernel({{.*}}) attributes {ops = "add relu exp neg"} -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: mp.yield
  // CHECK: return %[[K]]#1, %[[K]]#0
  %0 = mp.add %x, %y : tensor<4x8xf32>, tensor<8xf32>
  %1 = mp.relu %0 : tensor<4x8xf32>
  %2 = mp.exp %1 : tensor<4x8xf32>
  %3 = mp.neg %2 : tensor<4x8xf32>
  return %3, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Softmax of f16 is one kernel that computes in f32 and rounds once.
// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // CHECK-COUNT-1: mp.kernel(
  // CHECK: mp.cast %{{.*}} : tensor<4x8xf16> to tensor<4x8xf32>
  // CHECK: mp.max %{{.*}} dims[1] keepdim {mp.any_with_nan} : tensor<4x8xf32>
  // CHECK: mp.exp %{{.*}} {mp.argument = 1 : i32, mp.rounds_to = f16} : tensor<4x8xf32>
  // CHECK: mp.sum %{{.*}} dims[1] keepdim : tensor<4x8xf32>
  // CHECK: %[[R:.*]] = mp.cast %{{.*}} : tensor<4x8xf32> to tensor<4x8xf16>
  // CHECK: mp.yield %[[R]]
  // CHECK-NOT: mp.kernel(
  %0 = mp.softmax %x dim(1) : tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// A 16-bit sum accumulates in f32.
// CHECK-LABEL: @sum
func.func @sum(%x: tensor<4x8xbf16>) -> tensor<4xbf16> {
  // CHECK: %[[WIDE:.*]] = mp.cast %{{.*}} : tensor<4x8xbf16> to tensor<4x8xf32>
  // CHECK: %[[SUM:.*]] = mp.sum %[[WIDE]] dims[1] : tensor<4x8xf32>
  // CHECK: mp.cast %[[SUM]] : tensor<4xf32> to tensor<4xbf16>
  %0 = mp.sum %x dims[1] : tensor<4x8xbf16>
  return %0 : tensor<4xbf16>
}

// Sums over rows and over columns read their operand once.
// CHECK-LABEL: @rows_and_columns
func.func @rows_and_columns(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  // CHECK: mp.kernel({{.*}}) attributes {ops = "sum sum"} -> (tensor<4xf32>, tensor<8xf32>)
  %0 = mp.sum %x dims[1] : tensor<4x8xf32>
  %1 = mp.sum %x dims[0] : tensor<4x8xf32>
  return %0, %1 : tensor<4xf32>, tensor<8xf32>
}

// A sum over everything is known only at the end of its kernel.
// CHECK-LABEL: @total
func.func @total(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[SUM:.*]] = mp.kernel({{.*}}) attributes {ops = "sum"} -> tensor<f32>
  // CHECK: mp.kernel({{.*}} = %[[SUM]] : tensor<f32>) attributes {ops = "div"}
  %0 = mp.sum %x dims[0, 1] : tensor<4x8xf32>
  %1 = mp.div %x, %0 : tensor<4x8xf32>, tensor<f32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: @declared
func.func private @declared(tensor<?xf32>)
