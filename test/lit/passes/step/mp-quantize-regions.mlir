// RUN: mp-opt %s -mp-autocast=dtype=bf16 -mp-quantize | FileCheck %s

// One value under two policies is kept in the type of each, and outside of both in none.
mp.policy @other extends "fp8" {storage = #mp.storage<forward = f8E5M2, backward = f8E5M2>}
// CHECK-LABEL: @f
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-DAG: mp.linear %{{.*}} : tensor<4x8xf8E4M3FN>, tensor<8x8xf8E4M3FN>
  // CHECK-DAG: mp.linear %{{.*}} : tensor<4x8xf8E5M2>, tensor<8x8xf8E5M2>
  // CHECK-DAG: mp.linear %{{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16>
  %a = mp.autocast policy("fp8") {
    %1 = mp.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
    mp.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  %b = mp.autocast policy("@other") {
    %1 = mp.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
    mp.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  %c = mp.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  return %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
