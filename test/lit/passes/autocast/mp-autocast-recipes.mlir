// RUN: mp-opt %s -mp-autocast | FileCheck %s

// Recipes that want one function in different precisions get copies of it; those that
// want the same share it.
// CHECK-LABEL: @loss(
// CHECK: mp.matmul %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK-LABEL: @loss.f32(
// CHECK: mp.matmul %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-LABEL: @loss.bf16(
// CHECK: mp.matmul %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>
mp.variable @w : tensor<4x4xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<4x4xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x4xf32>
  %0 = mp.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %1 = mp.sum %0 dims[0, 1] : tensor<4x4xf32>
  return %1 : tensor<f32>
}
// CHECK: mp.train @half of @loss autocast
mp.train @half of @loss autocast(<dtype = f16>) { mp.minimize result(0) {optimizer = #mp.sgd} }
// CHECK: mp.train @brain of @loss.bf16 autocast
mp.train @brain of @loss autocast(<dtype = bf16>) { mp.minimize result(0) {optimizer = #mp.sgd} }
// CHECK: mp.train @full of @loss.f32
mp.train @full of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
// CHECK: mp.train @again of @loss autocast
mp.train @again of @loss autocast(<dtype = f16>) { mp.minimize result(0) {optimizer = #mp.sgd} }
