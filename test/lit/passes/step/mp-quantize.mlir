// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autocast -mp-autodiff -mp-place-casts | FileCheck %s --check-prefix=MARK
// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autocast -mp-autodiff -mp-place-casts -mp-quantize -o %t.step
// RUN: FileCheck %s --check-prefixes=VARIABLES,STEP < %t.step
// RUN: mp-opt %t.step -mp-quantize | diff %t.step -
// RUN: mp-opt %s -mp-set-mode=mode=eval -mp-specialize=batch=4 -mp-autocast -mp-quantize | FileCheck %s --check-prefix=EVAL

// MARK-LABEL: func.func @step(
// MARK: mp.linear {{.*}}mp.storage = #mp.storage<forward = f8E4M3FN, backward = f8E5M2>

// A history for each of weight, input and the gradient of the output. The first layer's
// input has no gradient, so there is one product less.
// VARIABLES-DAG: mp.variable buffer @fc1.weight.amax : tensor<16xf32> = #mp.init<zeros> as <history>
// VARIABLES-DAG: mp.variable buffer @fc1.weight.input.amax : tensor<16xf32>
// VARIABLES-DAG: mp.variable buffer @fc1.weight.output_gradient.amax : tensor<16xf32>
// VARIABLES-DAG: mp.variable buffer @fc2.weight.amax : tensor<16xf32>
// VARIABLES-DAG: mp.variable buffer @fc2.weight.input.amax : tensor<16xf32>
// VARIABLES-DAG: mp.variable buffer @fc2.weight.output_gradient.amax : tensor<16xf32>
// VARIABLES-DAG: mp.variable buffer @step.amax_position.16 : tensor<i32>
// VARIABLES-NOT: mp.variable buffer

// STEP-LABEL: func.func @step(
// Forward is in e4m3; the input is clamped to its range, except for non-finite elements.
// STEP: mp.read @fc1.weight.input.amax
// STEP: mp.clamp %{{.*}} {max = 4.480000e+02 : f64, min = -4.480000e+02 : f64}
// STEP: mp.select %{{.*}} : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
// STEP: %[[X:.+]] = mp.cast %{{.*}} : tensor<4x8xf32> to tensor<4x8xf8E4M3FN>
// STEP: %[[W1:.+]] = mp.cast %{{.*}} : tensor<6x8xf32> to tensor<6x8xf8E4M3FN>
// STEP: %[[H:.+]] = mp.linear %[[X]], %[[W1]] : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E4M3FN>
// STEP: mp.mul %[[H]], %{{.*}} : tensor<4x6xf32>, tensor<f32>
// The bias is added after that, and the sum rounded once.
// STEP: mp.add %{{.*}} : tensor<4x6xf32>, tensor<6xf32>
// STEP: mp.cast %{{.*}} : tensor<4x6xf32> to tensor<4x6xbf16>
// STEP: %[[A:.+]] = mp.cast %{{.*}} : tensor<4x6xf32> to tensor<4x6xf8E4M3FN>
// STEP: %[[W2:.+]] = mp.cast %{{.*}} : tensor<2x6xf32> to tensor<2x6xf8E4M3FN>
// STEP: mp.linear %[[A]], %[[W2]] : tensor<4x6xf8E4M3FN>, tensor<2x6xf8E4M3FN>
// Backward multiplies the operands of forward by gradients in e5m2.
// STEP: mp.seed
// STEP: %[[G2:.+]] = mp.cast %{{.*}} : tensor<4x2xf32> to tensor<4x2xf8E5M2>
// STEP-DAG: mp.matmul %[[G2]], %[[W2]] : tensor<4x2xf8E5M2>, tensor<2x6xf8E4M3FN>
// STEP-DAG: mp.matmul %[[G2]], %[[A]] transpose_a : tensor<4x2xf8E5M2>, tensor<4x6xf8E4M3FN>
// STEP: %[[G1:.+]] = mp.cast %{{.*}} : tensor<4x6xf32> to tensor<4x6xf8E5M2>
// STEP: mp.matmul %[[G1]], %[[X]] transpose_a : tensor<4x6xf8E5M2>, tensor<4x8xf8E4M3FN>
// STEP-NOT: mp.matmul
// STEP: mp.write @step.amax_position.16

// Evaluation reads scales and writes none.
// EVAL-LABEL: func.func @loss(
// EVAL-COUNT-2: mp.read @fc1.weight{{.*}}.amax
// EVAL: mp.linear %{{.*}} : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E4M3FN>
// EVAL-COUNT-2: mp.read @fc2.weight{{.*}}.amax
// EVAL: mp.linear %{{.*}} : tensor<4x6xf8E4M3FN>, tensor<2x6xf8E4M3FN>
// EVAL-NOT: mp.write

mp.variable @fc1.weight : tensor<6x8xf32> = #mp.init<kaiming_uniform>
mp.variable @fc1.bias : tensor<6xf32> = #mp.init<zeros>
mp.variable @fc2.weight : tensor<2x6xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %w1 = mp.read @fc1.weight : tensor<6x8xf32>
  %b1 = mp.read @fc1.bias : tensor<6xf32>
  %h = mp.linear %x, %w1, %b1 : tensor<?x8xf32>, tensor<6x8xf32>, tensor<6xf32>
  %a = mp.tanh %h : tensor<?x6xf32>
  %w2 = mp.read @fc2.weight : tensor<2x6xf32>
  %y = mp.linear %a, %w2 : tensor<?x6xf32>, tensor<2x6xf32>
  %l = mp.mean %y dims[0, 1] : tensor<?x2xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = bf16, policy = "fp8">) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-2>}
}
