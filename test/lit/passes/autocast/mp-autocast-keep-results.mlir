// Results have the type that autocast leaves them with, or the one that the function declares; eagerly and by colour.
// RUN: mp-opt %s '-mp-autocast=dtype=f16' | FileCheck %s --check-prefix=CAST
// RUN: mp-opt %s '-mp-autocast=dtype=f16 keep-results' | FileCheck %s
// RUN: mp-opt %s '-mp-autocast=dtype=f16 mode=propagate keep-results' | FileCheck %s
// RUN: mp-opt %s '-mp-run-pipeline=precision=fp16' | FileCheck %s --check-prefix=PIPELINE

// CAST: func.func @net(%{{.*}}) -> (tensor<4x2xf16> {mp.name = "logits"}, tensor<4x3xf32>)
// CHECK: func.func @net(%[[X:.*]]: tensor<4x3xf32>) -> (tensor<4x2xf32> {mp.name = "logits"}, tensor<4x3xf32>)
// CHECK: %[[Y:.*]] = mp.linear {{.*}} : tensor<4x3xf16>, tensor<2x3xf16>
// CHECK: %[[WIDE:.*]] = mp.cast %[[Y]] : tensor<4x2xf16> to tensor<4x2xf32>
// CHECK: return %[[WIDE]], %[[X]]
// PIPELINE: func.func @net({{.*}}) -> (tensor<4x2xf32> {mp.name = "logits"}, tensor<4x3xf32>)
func.func @net(%x: tensor<4x3xf32>) -> (tensor<4x2xf32> {mp.name = "logits"}, tensor<4x3xf32>) {
  %w = mp.constant dense<1.0> : tensor<2x3xf32>
  %y = mp.linear %x, %w : tensor<4x3xf32>, tensor<2x3xf32>
  return %y, %x : tensor<4x2xf32>, tensor<4x3xf32>
}
