// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-join-products,cse))' | FileCheck %s

// Two products of four rows are one of eight. Sums of the same rows are joined with the same concatenation.
// CHECK-LABEL: @gradients
// CHECK-DAG: %[[A:.*]] = mp.concat %arg0, %arg2 dim(0)
// CHECK-DAG: %[[B:.*]] = mp.concat %arg1, %arg3 dim(0)
// CHECK-DAG: %[[P:.*]] = mp.matmul %[[A]], %[[B]] transpose_a : tensor<8x16xf32>, tensor<8x32xf32>
// CHECK-DAG: %[[W:.*]] = mp.add %arg4, %[[P]]
// CHECK-DAG: %[[S:.*]] = mp.sum %[[A]] dims[0] : tensor<8x16xf32>
// CHECK: return %[[W]], %[[S]]
func.func @gradients(%a: tensor<4x16xf32>, %b: tensor<4x32xf32>, %c: tensor<4x16xf32>, %d: tensor<4x32xf32>,
                     %e: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16xf32>) {
  %p = mp.matmul %a, %b transpose_a : tensor<4x16xf32>, tensor<4x32xf32>
  %q = mp.matmul %c, %d transpose_a : tensor<4x16xf32>, tensor<4x32xf32>
  %s = mp.add %p, %e : tensor<16x32xf32>, tensor<16x32xf32>
  %r = mp.add %s, %q : tensor<16x32xf32>, tensor<16x32xf32>
  %t = mp.sum %a dims[0] : tensor<4x16xf32>
  %u = mp.sum %c dims[0] : tensor<4x16xf32>
  %v = mp.add %t, %u : tensor<16xf32>, tensor<16xf32>
  return %r, %v : tensor<16x32xf32>, tensor<16xf32>
}

// Nothing else joins the rows of these.
// CHECK-LABEL: @sums
// CHECK-NOT: mp.concat
func.func @sums(%a: tensor<4x16xf32>, %b: tensor<3x16xf32>) -> tensor<16xf32> {
  %p = mp.sum %a dims[0] : tensor<4x16xf32>
  %q = mp.sum %b dims[0] : tensor<3x16xf32>
  %r = mp.add %p, %q : tensor<16xf32>, tensor<16xf32>
  return %r : tensor<16xf32>
}

// The operands are larger than the results; one of the products is returned; these are not of the same type.
// CHECK-LABEL: @apart
// CHECK-NOT: mp.concat
func.func @apart(%a: tensor<64x4xf32>, %b: tensor<64x4xf32>, %c: tensor<2x16xf32>, %d: tensor<2x16xf32>,
                 %e: tensor<2x16xbf16>) -> (tensor<4x4xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  %p = mp.matmul %a, %b transpose_a : tensor<64x4xf32>, tensor<64x4xf32>
  %q = mp.matmul %b, %a transpose_a : tensor<64x4xf32>, tensor<64x4xf32>
  %r = mp.add %p, %q : tensor<4x4xf32>, tensor<4x4xf32>
  %s = mp.matmul %c, %d transpose_a : tensor<2x16xf32>, tensor<2x16xf32>
  %t = mp.matmul %e, %e transpose_a out_dtype(f32) : tensor<2x16xbf16>, tensor<2x16xbf16>
  %u = mp.matmul %d, %c transpose_a : tensor<2x16xf32>, tensor<2x16xf32>
  %v = mp.add %s, %t : tensor<16x16xf32>, tensor<16x16xf32>
  %w = mp.add %v, %u : tensor<16x16xf32>, tensor<16x16xf32>
  return %r, %s, %w : tensor<4x4xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// Products of parts of a loss stay apart: each is added to a sum that is stored, and the next part waits for it.
// CHECK-LABEL: @parts
// CHECK: %[[Z1:.*]] = mp.linear %arg0
// CHECK: %[[P1:.*]] = mp.matmul %[[Z1]], %arg0 transpose_a
// CHECK: %[[X0:.*]] = mp.recompute_barrier %arg1 since %[[P1]]
// CHECK: %[[Z0:.*]] = mp.linear %[[X0]]
// CHECK: %[[S1:.*]] = mp.add %arg3, %[[P1]]
// CHECK: %[[P0:.*]] = mp.matmul %[[Z0]], %arg1 transpose_a
// CHECK: %[[B1:.*]] = mp.recompute_barrier %[[S1]] since %[[S1]]
// CHECK: mp.add %[[B1]], %[[P0]]
func.func @parts(%x1: tensor<4x16xf32>, %x0: tensor<4x16xf32>, %w: tensor<32x16xf32>, %e: tensor<32x16xf32>)
    -> tensor<32x16xf32> {
  %z1 = mp.linear %x1, %w {mp.chunk = 1 : i64} : tensor<4x16xf32>, tensor<32x16xf32>
  %p1 = mp.matmul %z1, %x1 transpose_a {mp.chunk = 1 : i64} : tensor<4x32xf32>, tensor<4x16xf32>
  %z0 = mp.linear %x0, %w {mp.chunk = 0 : i64} : tensor<4x16xf32>, tensor<32x16xf32>
  %s1 = mp.add %e, %p1 : tensor<32x16xf32>, tensor<32x16xf32>
  %p0 = mp.matmul %z0, %x0 transpose_a {mp.chunk = 0 : i64} : tensor<4x32xf32>, tensor<4x16xf32>
  %s0 = mp.add %s1, %p0 : tensor<32x16xf32>, tensor<32x16xf32>
  return %s0 : tensor<32x16xf32>
}
