// RUN: mp-opt %s -mp-autodiff -mp-loss-scale=scaler=torch | FileCheck %s --check-prefix=OFF
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale=scaler=torch | FileCheck %s
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale | FileCheck %s --check-prefix=RECIPE

mp.variable @w : tensor<f32> = #mp.init<zeros>
// The preset's fields are PyTorch's defaults; recipes that name no scaler share one.
// CHECK: mp.variable scaler @scaler.scale : tensor<f32> = #mp.init<constant, value = 65536>
// CHECK-COUNT-2: mp.update_scale %{{.*}}, %{{.*}}, %{{[^ ]*}} : tensor<f32>, tensor<i32>, tensor<i1>
// CHECK-COUNT-1: mp.scaler @scaler
// CHECK-NOT: mp.scaler @scaler

// A recipe without a scaler scales nothing.
// RECIPE-NOT: mp.scale{{ }}
func.func @loss() -> tensor<f32> {
  %w = mp.read @w : tensor<f32>
  return %w : tensor<f32>
}
mp.train @step1 of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.train @step2 of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// A scaler that is not enabled counts as none.
mp.scaler @off {enabled = false}
mp.train @step3 of @loss scaler(@off) { mp.minimize result(0) {optimizer = #mp.sgd} }

// An option selects its preset, even if the recipe's is the same and is not enabled.
// OFF: mp.variable scaler @off.scale
// OFF-COUNT-3: mp.update_scale
