// RUN: mp-opt %s -mp-autodiff -mp-master-weights -mp-optimizer -mp-predicate-step -mp-verify-step | FileCheck %s -enable-var-scope

// Without a scaler only a copy can skip: that of one optimizer. The other's flag is never set.
mp.variable @v : tensor<4xf16> = #mp.init<zeros>
mp.variable @w : tensor<4xf32> = #mp.init<zeros>
mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %v = mp.read @v : tensor<4xf16>
  %w = mp.read @w : tensor<4xf32>
  %0 = mp.cast %v : tensor<4xf16> to tensor<4xf32>
  %1 = mp.mul %0, %w : tensor<4xf32>, tensor<4xf32>
  %2 = mp.sum %1 dims[0] : tensor<4xf32>
  mp.write @mean, %2 : tensor<f32>
  return %2 : tensor<f32>
}
// CHECK-LABEL: func.func @step() -> ({{.*}}{mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.copied"}, tensor<i1> {mp.name = "skipped.1"})
// CHECK: %[[OPEN:.*]] = mp.and
// CHECK: %[[NEVER:.*]] = mp.constant dense<false>
// CHECK: %[[OK:.*]] = mp.not %[[NEVER]]
// CHECK: mp.write @w, %{{.*}} if %[[OK]]
// CHECK: return {{.*}}, %[[COPIED:.*]], %[[COPIED]], %[[NEVER]] :
mp.train @step of @loss {
  mp.minimize result(0) {params = ["v"], optimizer = #mp.sgd, optimizer_name = "copied"}
  mp.minimize result(0) {params = ["w"], optimizer = #mp.adamw}
}
