// RUN: mp-opt %s -mp-fuse | FileCheck %s --implicit-check-not=mp.kernel

// The angles of channels are stored once for queries and keys; the partners of
// channels are moved; and what is left is elementwise in the shape of the
// input, so that it fuses with what is around it.
// CHECK-LABEL: @halves
// CHECK: mp.kernel({{.*}}) attributes {ops = "gather"} -> tensor<2x3x4x2x8xbf16>
// CHECK: mp.kernel({{.*}}) attributes {ops = "broadcast"} -> tensor<3x4x2x8xf32>
// CHECK: mp.kernel({{.*}}) attributes {ops = "iota compare neg select broadcast"} -> tensor<3x4x2x8xf32>
// CHECK: mp.kernel({{.*}}) attributes {ops = "cast cast mul mul add cast relu"} -> tensor<2x3x4x16xbf16>
// CHECK: mp.kernel({{.*}}) attributes {ops = "gather"} -> tensor<2x3x4x2x8xbf16>
// CHECK: mp.kernel({{.*}}) attributes {ops = "cast cast mul mul add cast"} -> tensor<2x3x4x16xbf16>
func.func @halves(%q: tensor<2x3x4x16xbf16>, %k: tensor<2x3x4x16xbf16>, %c: tensor<3x8xf32>, %s: tensor<3x8xf32>)
    -> (tensor<2x3x4x16xbf16>, tensor<2x3x4x16xbf16>) {
  %0 = mp.rotary_embedding %q, %c, %s dim(1) : tensor<2x3x4x16xbf16>, tensor<3x8xf32>
  %1 = mp.relu %0 : tensor<2x3x4x16xbf16>
  %2 = mp.rotary_embedding %k, %c, %s dim(1) : tensor<2x3x4x16xbf16>, tensor<3x8xf32>
  return %1, %2 : tensor<2x3x4x16xbf16>, tensor<2x3x4x16xbf16>
}
