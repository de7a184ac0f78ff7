// Every system that has the op casts query, key and value down. The mask and the slopes keep their types: the scores
// are f32.

// RUN: mp-opt %s -mp-autocast='dtype=bf16 policy=torch' | FileCheck %s --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=bf16 policy=torch-cpu' | FileCheck %s --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=bf16 policy=relax' | FileCheck %s --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=bf16 policy=apex-o0' | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: mp-opt %s -mp-autocast='dtype=bf16 deny=scaled_dot_product_attention' | FileCheck %s --check-prefixes=CHECK,WIDE

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[M:[^:]*]]: tensor<4x1x5xf32>, %[[S:[^:]*]]: tensor<4xf32>
func.func @f(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x8xf32>, %m: tensor<4x1x5xf32>, %s: tensor<4xf32>) -> (tensor<2x7x4x8xf32>, tensor<2x7x4xf32>) {
  // LOW: mp.scaled_dot_product_attention {{.*}} mask(%[[M]] : tensor<4x1x5xf32>) slopes(%[[S]] : tensor<4xf32>) : tensor<2x7x4x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>
  // WIDE: mp.scaled_dot_product_attention {{.*}} mask(%[[M]] : tensor<4x1x5xf32>) slopes(%[[S]] : tensor<4xf32>) : tensor<2x7x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>
  %y, %lse = mp.scaled_dot_product_attention %q, %k, %v mask(%m : tensor<4x1x5xf32>) slopes(%s : tensor<4xf32>) : tensor<2x7x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>
  return %y, %lse : tensor<2x7x4x8xf32>, tensor<2x7x4xf32>
}
