// A training run reads single numbers of a step, and what it asks for by a name with its kind.
// RUN: mp-opt %s --mp-return-numbers | FileCheck %s
// RUN: mp-opt %s --mp-train-pipeline="batch=4 returns-numbers" | FileCheck %s --check-prefix=STEP
// RUN: mp-opt %s --mp-train-pipeline="batch=4" | FileCheck %s --check-prefix=ALL
// RUN: mp-translate %s --mp-to-program --mp-batch=4 --mp-total-steps=1 --mp-returns-numbers \
// RUN:   | FileCheck %s --check-prefix=NUMBERS
// RUN: mp-translate %s --mp-to-program --mp-batch=4 --mp-total-steps=1 | FileCheck %s --check-prefix=LOGITS
// NUMBERS: result loss
// NUMBERS-NOT: result logits
// LOGITS: result logits

// CHECK: func.func @asked({{.*}}) -> (tensor<f32> {mp.name = "loss"}, tensor<4x2xf32> {mp.name = "grad:w"}) {
// CHECK: return %arg0, %arg2 :
func.func @asked(%loss: tensor<f32>, %logits: tensor<4x2xf32>, %gradient: tensor<4x2xf32>)
    -> (tensor<f32> {mp.name = "loss"}, tensor<4x2xf32> {mp.name = "logits"}, tensor<4x2xf32> {mp.name = "grad:w"}) {
  return %loss, %logits, %gradient : tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>
}

// STEP: func.func @step({{.*}}) -> (tensor<f32> {mp.name = "loss"}, tensor<f32>
// STEP-NOT: "logits"
// ALL: func.func @step({{.*}}) -> (tensor<f32> {mp.name = "loss"}, tensor<4x2xf32> {mp.name = "logits"},
mp.variable @w : tensor<2x3xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x3xf32>, %y: tensor<?xui8>)
    -> (tensor<f32> {mp.name = "loss"}, tensor<?x2xf32> {mp.name = "logits"}) {
  %w = mp.read @w : tensor<2x3xf32>
  %logits = mp.linear %x, %w : tensor<?x3xf32>, tensor<2x3xf32>
  %loss = mp.cross_entropy %logits, %y : tensor<?x2xf32>, tensor<?xui8>
  return %loss, %logits : tensor<f32>, tensor<?x2xf32>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-1>}
}
