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
