// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autocast -mp-autodiff -mp-place-casts -mp-quantize | FileCheck %s

// A convolution is quantized as a product is: its bias, a third operand, is added to the sums in f32.

mp.variable @w : tensor<6x3x3x2xf32> = #mp.init<kaiming_uniform>
mp.variable @b : tensor<6xf32> = #mp.init<zeros>

func.func @loss(%x: tensor<?x5x5x2xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<6x3x3x2xf32>
  %b = mp.read @b : tensor<6xf32>
  %y = mp.conv2d %x, %w, %b low[1, 1] high[1, 1] : tensor<?x5x5x2xf32>, tensor<6x3x3x2xf32>, tensor<6xf32>
  %s = mp.mean %y dims[0, 1, 2, 3] : tensor<?x5x5x6xf32>
  return %s : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = bf16, policy = "fp8">) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>}
}

// CHECK-LABEL: func.func @step(
// CHECK: %[[X:.+]] = mp.cast %{{.*}} : tensor<4x5x5x2xf32> to tensor<4x5x5x2xf8E4M3FN>
// CHECK: %[[W:.+]] = mp.cast %{{.*}} : tensor<6x3x3x2xf32> to tensor<6x3x3x2xf8E4M3FN>
// CHECK: %[[Y:.+]] = mp.conv2d %[[X]], %[[W]] low[1, 1] high[1, 1] : tensor<4x5x5x2xf8E4M3FN>, tensor<6x3x3x2xf8E4M3FN>
// CHECK: %[[S:.+]] = mp.mul %[[Y]], %{{.*}} : tensor<4x5x5x6xf32>, tensor<f32>
// CHECK: mp.add %[[S]], %{{.*}} : tensor<4x5x5x6xf32>, tensor<6xf32>
// CHECK: mp.cast %{{.*}} : tensor<4x5x5x6xf32> to tensor<4x5x5x6xbf16>
// CHECK: mp.conv2d_backward_weight %{{.*}}, %[[X]] size[3, 3] low[1, 1] high[1, 1] : tensor<4x5x5x6xf8E5M2>, tensor<4x5x5x2xf8E4M3FN>
