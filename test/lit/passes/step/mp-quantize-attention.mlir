// Attention has a softmax between its products, which no scale of 8-bit operands passes: it stays in 16 bits.
// RUN: mp-opt %s -mp-train-pipeline="batch=4 total-steps=2" -o /dev/null
// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autocast -mp-autodiff -mp-quantize | FileCheck %s

// CHECK-LABEL: func.func @step(
// CHECK: mp.linear {{.*}} : tensor<4x6x8xf8E4M3FN>, tensor<8x8xf8E4M3FN>
// CHECK: mp.scaled_dot_product_attention %{{.*}} causal : tensor<4x6x2x4xbf16>, tensor<4x6x2x4xbf16>, tensor<4x6x2x4xbf16>
// CHECK: mp.scaled_dot_product_attention_backward {{.*}} tensor<4x6x2x4xbf16>
mp.variable @w : tensor<8x8xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x6x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<8x8xf32>
  %h = mp.linear %x, %w : tensor<?x6x8xf32>, tensor<8x8xf32>
  // Keys and values are one value.
  %q = mp.reshape %h : tensor<?x6x8xf32> to tensor<?x6x2x4xf32>
  %y, %s = mp.scaled_dot_product_attention %q, %q, %q causal : tensor<?x6x2x4xf32>, tensor<?x6x2x4xf32>, tensor<?x6x2x4xf32>
  %l = mp.mean %y dims[0, 1, 2, 3] : tensor<?x6x2x4xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = bf16, policy = "fp8">) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>}
}
