// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-predicate-step))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-predicate-step,mp-predicate-step),mp-verify-step)' | FileCheck %s

mp.variable @w : tensor<f32> = #mp.init<zeros>
mp.variable slot @m : tensor<f32> = #mp.init<zeros>
mp.variable scaler @scale : tensor<f32> = #mp.init<zeros>
mp.variable attempt @attempts : tensor<f32> = #mp.init<zeros>

// The flag is final at the end, where guarded writes move; the count of step attempts stays.
// CHECK-LABEL: @step
// CHECK-SAME: (%[[X:.*]]: tensor<f32>, %[[A:.*]]: tensor<i1>, %[[B:.*]]: tensor<i1>)
func.func @step(%x: tensor<f32>, %a: tensor<i1>, %b: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  // CHECK-NEXT: mp.write @scale, %[[X]] : tensor<f32>
  // CHECK-NEXT: mp.write @attempts, %[[X]] : tensor<f32>
  // CHECK-NEXT: %[[SKIPPED:.*]] = mp.or %[[A]], %[[B]]
  // CHECK-NEXT: %[[OK:.*]] = mp.not %[[SKIPPED]] : tensor<i1>
  // CHECK-NEXT: mp.write @w, %[[X]] if %[[OK]] : tensor<f32>
  // CHECK-NEXT: mp.write @m, %[[X]] if %[[OK]] : tensor<f32>
  // CHECK-NEXT: return %[[SKIPPED]]
  mp.write @w, %x : tensor<f32>
  mp.write @scale, %x : tensor<f32>
  mp.write @m, %x : tensor<f32>
  mp.write @attempts, %x : tensor<f32>
  %skipped = mp.or %a, %b : tensor<i1>, tensor<i1>
  return %skipped : tensor<i1>
}

// Without a flag every step is applied.
// CHECK-LABEL: @always
func.func @always(%x: tensor<f32>) {
  // CHECK-NEXT: mp.write @w, %{{[^ ]*}} : tensor<f32>
  mp.write @w, %x : tensor<f32>
  return
}
