// The decisions of autocast are attached to the module if requested, and only then.
// RUN: mp-opt %s -mp-autocast='dtype=f16 record' | FileCheck %s
// RUN: mp-opt %s -mp-autocast='dtype=f32 record' | FileCheck %s --check-prefix=NONE
// RUN: mp-opt %s -mp-autocast=dtype=f16 | FileCheck %s --check-prefix=UNASKED

// CHECK: module attributes {mp.casts = "[{\22cast_bytes\22:{{[0-9]+}},\22casts\22:2,\22function\22:\22f\22,\22ops\22:[{{.*}}\22op\22:\22mp.linear\22,\22runs_in\22:\22f16\22
// NONE: module attributes {mp.casts = "[]"}
// UNASKED-NOT: mp.casts
func.func @f(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
  %y = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  return %y : tensor<4x2xf32>
}
