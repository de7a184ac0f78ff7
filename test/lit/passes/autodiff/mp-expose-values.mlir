// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-number-ops),mp-expose-values)' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-number-ops),mp-expose-values{gradients=true scale=8})' | FileCheck %s --check-prefix=GRADIENTS
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-number-ops),mp-expose-values{gradients=true values=false})' | FileCheck %s --check-prefix=ALONE

// Only gradients name the makers of their values.
// ALONE: loc("@w"(
// ALONE: loc("mp.mul"(
// ALONE: func.func @f(%{{.*}}) -> (tensor<4xf32> {mp.name = "gradient.0.1.0", mp.origin = #{{.*}}}, tensor<4xf32> {mp.name = "gradient.0.3.0", mp.origin = #{{.*}}}, tensor<f32> {mp.name = "gradient.0.5.0", mp.origin = #{{.*}}}) {

mp.variable @w : tensor<4xf32> = #mp.init<ones>
mp.variable @frozen : tensor<4xf32> = #mp.init<ones>

// Every float of every op, under its number; integers are left out.
// CHECK-LABEL: func.func @f
// CHECK-SAME: -> (tensor<4xf32> {mp.name = "value.1.0"}, tensor<4xf32> {mp.name = "value.2.0"},
// CHECK-SAME: tensor<4xf32> {mp.name = "value.3.0"}, tensor<f32> {mp.name = "value.5.0"})
// GRADIENTS-LABEL: func.func @f
// A value that does not depend on a parameter has no gradient.
// GRADIENTS-SAME: "value.5.0"}, tensor<4xf32> {mp.name = "gradient.0.1.0"}, tensor<4xf32> {mp.name = "gradient.0.3.0"}, tensor<f32> {mp.name = "gradient.0.5.0"})
func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4xf32>
  %k = mp.read @frozen : tensor<4xf32>
  %y = mp.mul %w, %k : tensor<4xf32>, tensor<4xf32>
  %i = mp.cast %x : tensor<4xf32> to tensor<4xi32>
  %l = mp.sum %y dims[0] : tensor<4xf32>
  // GRADIENTS: %[[ONE:.*]] = mp.seed : tensor<f32>
  // GRADIENTS: %[[SCALE:.*]] = mp.constant dense<8.000000e+00> : tensor<f32>
  // GRADIENTS: %[[SEED:.*]] = mp.scale %[[ONE]], %[[SCALE]]
  // GRADIENTS: %[[DY:.*]] = mp.broadcast %[[SEED]] : tensor<f32> to tensor<4xf32>
  // GRADIENTS: %[[DW:.*]] = mp.mul %[[DY]]
  // GRADIENTS: return {{.*}}, %[[DW]], %[[DY]], %[[SEED]] :
  // CHECK-NOT: mp.broadcast
  // CHECK: return
  return %l : tensor<f32>
}

// The recipe minimises a result that is not returned any more.
// CHECK-NOT: mp.train
// GRADIENTS-NOT: mp.train
mp.train @step of @f {
  mp.minimize result(0) {params = ["w"], optimizer = #mp.sgd<lr = 1.0>}
}

// A gradient inside the function comes before its own.
// GRADIENTS-LABEL: func.func @penalty
// GRADIENTS-SAME: mp.name = "value.2.0"
// GRADIENTS: mp.gradient
func.func @penalty(%x: tensor<f32>) -> tensor<f32> {
  %y = mp.mul %x, %x : tensor<f32>, tensor<f32>
  %g = mp.gradient %y of %x : tensor<f32>, tensor<f32>
  return %g : tensor<f32>
}
