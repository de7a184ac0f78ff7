// RUN: mp-opt %s -mp-number-streams -mp-autodiff=function=f | FileCheck %s

// Backward draws the mask again: nothing is kept for it.
// CHECK-LABEL: @f.gradient
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[K:.*]]: tensor<i64>)
// CHECK-NEXT: %[[SEED:.*]] = mp.seed
// CHECK-NEXT: %[[G:.*]] = mp.broadcast %[[SEED]]
// CHECK-NEXT: %[[D:.*]] = mp.dropout_backward %[[G]] stream(0) key(%[[K]], %[[K]]) {p = 1.000000e-01 : f64} : tensor<4xf32>
// CHECK-NEXT: return %[[D]]
func.func @f(%x: tensor<4xf32>, %k: tensor<i64>) -> tensor<f32> {
  %0 = mp.dropout %x key(%k, %k) {p = 0.1} : tensor<4xf32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}
