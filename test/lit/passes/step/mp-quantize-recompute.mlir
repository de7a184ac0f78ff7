// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autocast -mp-autodiff -mp-place-casts -mp-recompute -mp-loss-scale -mp-quantize | FileCheck %s

// Values that backward computes again have the scales of forward, and no history of
// their own.
// CHECK-NOT: product
// CHECK-NOT: .2.amax
// CHECK-LABEL: func.func @step(
// CHECK: mp.linear %{{.*}} : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E4M3FN>
// CHECK: mp.linear %{{.*}} : tensor<4x6xf8E4M3FN>, tensor<6x6xf8E4M3FN>
// CHECK: mp.seed
// CHECK: mp.recompute_barrier
// CHECK: mp.linear %{{.*}} : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E4M3FN>
// CHECK: %[[A:.+]] = mp.cast %{{.*}} : tensor<4x6xf32> to tensor<4x6xf8E4M3FN>
// CHECK: mp.matmul %{{.*}}, %[[A]] transpose_a : tensor<4x6xf8E5M2>, tensor<4x6xf8E4M3FN>
mp.variable @fc1.weight : tensor<6x8xf32> = #mp.init<kaiming_uniform>
mp.variable @fc2.weight : tensor<6x6xf32> = #mp.init<kaiming_uniform>
mp.scaler @scaler
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %w1 = mp.read @fc1.weight : tensor<6x8xf32>
  %h = mp.linear %x, %w1 : tensor<?x8xf32>, tensor<6x8xf32>
  %a = mp.tanh %h : tensor<?x6xf32>
  %w2 = mp.read @fc2.weight : tensor<6x6xf32>
  %y = mp.linear %a, %w2 : tensor<?x6xf32>, tensor<6x6xf32>
  %k = mp.checkpoint %y : tensor<?x6xf32>
  %e = mp.exp %k : tensor<?x6xf32>
  %l = mp.mean %e dims[0, 1] : tensor<?x6xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = f16, policy = "fp8">) scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>}
}
