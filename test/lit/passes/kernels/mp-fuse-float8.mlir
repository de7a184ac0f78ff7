// RUN: mp-opt --mp-fuse %s | FileCheck %s -enable-var-scope

// No main loop takes 8-bit floats: bf16 holds them exactly, and the sums stay f32.

// CHECK-LABEL: @product
// CHECK: mp.cast {{.*}} : tensor<4x8xf8E4M3FN> to tensor<4x8xbf16>
// CHECK: mp.cast {{.*}} : tensor<2x8xf8E5M2> to tensor<2x8xbf16>
// CHECK: mp.linear {{.*}} out_dtype(f32) : tensor<4x8xbf16>, tensor<2x8xbf16>
// CHECK: return {{.*}} : tensor<4x2xf32>
func.func @product(%x: tensor<4x8xf8E4M3FN>, %w: tensor<2x8xf8E5M2>) -> tensor<4x2xf32> {
  %y = mp.linear %x, %w : tensor<4x8xf8E4M3FN>, tensor<2x8xf8E5M2>
  return %y : tensor<4x2xf32>
}
