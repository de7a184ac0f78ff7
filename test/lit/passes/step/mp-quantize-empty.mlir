// RUN: mp-opt %s -mp-train-pipeline="batch=4 total-steps=2" -o /dev/null
// RUN: mp-opt %s -mp-train-pipeline="batch=4 total-steps=2 precision=fp16" -o /dev/null
// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autocast -mp-autodiff -mp-quantize | FileCheck %s

// A tensor without elements has no largest one: it stays unchanged.
// CHECK-NOT: .amax
// CHECK-LABEL: func.func @step(
// CHECK: mp.linear %{{.*}} : tensor<4x0xbf16>, tensor<8x0xbf16>
// CHECK-NOT: mp.storage
mp.variable @w : tensor<8x0xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x0xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<8x0xf32>
  %h = mp.linear %x, %w : tensor<?x0xf32>, tensor<8x0xf32>
  %l = mp.sum %h dims[0, 1] : tensor<?x8xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = bf16, policy = "fp8">) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>}
}
