// RUN: mp-opt %s -mp-autodiff -verify-diagnostics | FileCheck %s
// RUN: mp-opt %s -mp-autodiff -verify-diagnostics -mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

mp.variable @w : tensor<3x3xf32> = #mp.init<zeros>
mp.variable @unused : tensor<3xf32> = #mp.init<zeros>
mp.variable @frozen : tensor<3xf32> = #mp.init<zeros>
mp.variable buffer @mean : tensor<3xf32> = #mp.init<zeros>

// Without its recipe nothing calls it, so the step can replace it.
// CHECK-LABEL: func.func private @loss(
func.func @loss(%x: tensor<4x3xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  // A tied weight, read twice.
  %w = mp.read @w : tensor<3x3xf32>
  %again = mp.read @w : tensor<3x3xf32>
  // expected-warning@+1 {{parameter @unused does not reach the loss}}
  %unused = mp.read @unused : tensor<3xf32>
  %frozen = mp.read @frozen : tensor<3xf32>
  %mean = mp.read @mean : tensor<3xf32>
  %0 = mp.sub %x, %mean : tensor<4x3xf32>, tensor<3xf32>
  %1 = mp.matmul %0, %w : tensor<4x3xf32>, tensor<3x3xf32> loc("first")
  %2 = mp.matmul %1, %again : tensor<4x3xf32>, tensor<3x3xf32> loc("second")
  %3 = mp.add %2, %frozen : tensor<4x3xf32>, tensor<3xf32>
  %4 = mp.sum %3 dims[0, 1] : tensor<4x3xf32>
  return %4 : tensor<f32>
}

// Only the recipe's parameters have gradients: one for both reads of @w.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: tensor<4x3xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}, tensor<3x3xf32> {mp.gradient = @w})
// CHECK: %[[LOSS:.*]] = mp.sum %{{.*}} dims[0, 1] : tensor<4x3xf32>
// CHECK: mp.seed
// CHECK: %[[SECOND:.*]] = mp.matmul %{{.*}} transpose_a
// CHECK: %[[FIRST:.*]] = mp.matmul %{{.*}} transpose_a
// CHECK: %[[W:.*]] = mp.add %[[FIRST]], %[[SECOND]] : tensor<3x3xf32>, tensor<3x3xf32>
// CHECK-NEXT: return %[[LOSS]], %[[W]]
// CHECK: mp.train @step of @loss

// LOC-DAG: #[[SECOND:.*]] = loc("second")
// LOC-DAG: #{{.*}} = loc(fused<"backward of">[#[[SECOND]]])

mp.train @step of @loss {
  mp.minimize result(0) {params = ["*", "!frozen"], optimizer = #mp.sgd}
}
