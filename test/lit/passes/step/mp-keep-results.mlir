// The part of a recipe's function that predicts: labels and loss are gone, and so is the recipe.
// RUN: mp-opt %s --mp-keep-results=results=logits | FileCheck %s
// RUN: mp-opt %s --mp-keep-results | FileCheck %s
// RUN: not mp-opt %s --mp-keep-results=results=logit 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mp-opt %S/../../../../examples/fashion-mnist/mlp.mlir --mp-keep-results 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTHING

// CHECK:      func.func @loss(%[[X:.*]]: tensor<4x3xf32> {mp.name = "x"}) -> (tensor<4x2xf32> {mp.name = "logits"})
// CHECK-SAME: attributes {mp.arguments = array<i64: 1>}
// CHECK-NEXT:   %[[W:.*]] = mp.read @w
// CHECK-NEXT:   %[[LOGITS:.*]] = mp.linear %[[X]], %[[W]]
// CHECK-NEXT:   return %[[LOGITS]]
// CHECK-NOT: mp.train

// UNKNOWN: mp-keep-results.mlir:[[#@LINE+5]]:1: error: function 'loss' returns no 'logit' to predict, did you mean 'logits'

// NOTHING: mlp.mlir:15:3: error: function 'loss' returns single numbers only{{.*}}"value:%logits"

mp.variable @w : tensor<2x3xf32> = #mp.init<zeros>
func.func @loss(%label: tensor<4xui8> {mp.name = "label"}, %x: tensor<4x3xf32> {mp.name = "x"})
    -> (tensor<f32> {mp.name = "loss"}, tensor<4x2xf32> {mp.name = "logits"}) {
  %w = mp.read @w : tensor<2x3xf32>
  %logits = mp.linear %x, %w : tensor<4x3xf32>, tensor<2x3xf32>
  %l = mp.cross_entropy %logits, %label : tensor<4x2xf32>, tensor<4xui8>
  return %l, %logits : tensor<f32>, tensor<4x2xf32>
}
mp.train @step of @loss {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 0.1>}
}
