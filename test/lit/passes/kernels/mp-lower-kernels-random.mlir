// RUN: mp-opt %s -pass-pipeline="builtin.module(func.func(mp-fuse,mp-lower-kernels))" | FileCheck %s

// An element is counted row by row, in 32 bits if they suffice; dimensions that merge
// count as one.
// CHECK-LABEL: @flat
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK-NEXT: %[[AT:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: arith.shrui %[[AT]], %{{.*}} : i32
func.func @flat(%x: tensor<6x35xf32>, %k: tensor<i64>) -> tensor<6x35xf32> {
  %0 = mp.dropout %x stream(0) key(%k, %k) : tensor<6x35xf32>
  return %0 : tensor<6x35xf32>
}

// CHECK-LABEL: @rows
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[R:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: %[[C:.*]] = arith.index_cast %[[COLUMN]] : index to i32
// CHECK: %[[SIZE:.*]] = arith.constant 35 : i32
// CHECK: %[[BEFORE:.*]] = arith.muli %[[R]], %[[SIZE]]
// CHECK: %[[AT:.*]] = arith.addi %[[C]], %[[BEFORE]]
// CHECK: arith.shrui %[[AT]], %{{.*}} : i32
func.func @rows(%x: tensor<6x35xf32>, %y: tensor<35xf32>, %k: tensor<i64>) -> tensor<6x35xf32> {
  %0 = mp.dropout %x stream(0) key(%k, %k) : tensor<6x35xf32>
  %1 = mp.add %0, %y : tensor<6x35xf32>, tensor<35xf32>
  return %1 : tensor<6x35xf32>
}

// CHECK-LABEL: @many
// CHECK: arith.index_cast %{{.*}} : index to i64
// CHECK: arith.shrui %{{.*}}, %{{.*}} : i64
func.func @many(%k: tensor<i64>) -> tensor<3x1073741824xbf16> {
  %0 = mp.uniform stream(0) key(%k, %k) : tensor<3x1073741824xbf16>
  return %0 : tensor<3x1073741824xbf16>
}

// Stages after an anchor do not know their index: dropout has a kernel of its own.
// CHECK-LABEL: @after_an_anchor
// CHECK: ops = "linear relu"
// CHECK: ops = "dropout"
func.func @after_an_anchor(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %k: tensor<i64>) -> tensor<8x32xf32> {
  %0 = mp.linear %x, %w : tensor<8x16xf32>, tensor<32x16xf32>
  %1 = mp.relu %0 : tensor<8x32xf32>
  %2 = mp.dropout %1 stream(0) key(%k, %k) : tensor<8x32xf32>
  return %2 : tensor<8x32xf32>
}
