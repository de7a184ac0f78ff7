// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @sgd
func.func @sgd(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>, %step: tensor<i64>, %m: tensor<4xf32>) {
  // CHECK: mp.sgd<weight_decay = 1.000000e-02> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>
  %p1 = mp.sgd<weight_decay = 1.0e-2> %p, %g, %lr, %step : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>
  // CHECK: %{{.*}}, %{{.*}} = mp.sgd<momentum = 9.000000e-01, nesterov = true> %{{.*}} :
  %p2, %m2 = mp.sgd<momentum = 9.0e-1, nesterov = true> %p, %g, %lr, %step, %m
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<4xf32>
  return
}

// CHECK-LABEL: @adamw
func.func @adamw(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %lr: tensor<f32>, %step: tensor<i64>) {
  // CHECK: mp.bias_correction %{{.*}} {beta = 0.99{{[0-9]*}} : f64} : tensor<i64>
  %c = mp.bias_correction %step {beta = 9.99e-1} : tensor<i64>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = mp.adamw<beta1 = 8.000000e-01> %{{.*}} :
  %p1, %m1, %v1 = mp.adamw<beta1 = 8.0e-1> %p, %g, %m, %v, %lr, %c, %c
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// CHECK-LABEL: @amsgrad
func.func @amsgrad(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %x: tensor<4xf32>,
                   %lr: tensor<f32>, %c: tensor<f32>) {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{[^ ]*}} = mp.adam<amsgrad = true> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{[^ ]*}} :
  // CHECK-SAME: tensor<f32>, tensor<4xf32>{{$}}
  %p1, %m1, %v1, %x1 = mp.adam<amsgrad = true> %p, %g, %m, %v, %lr, %c, %c, %x
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>
  return
}

// CHECK-LABEL: @rmsprop
func.func @rmsprop(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>, %s: tensor<4xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = mp.rmsprop<alpha = 9.000000e-01> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
  %0:2 = mp.rmsprop<alpha = 0.9> %p, %g, %lr, %s : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
  // CHECK: %{{.*}}, %{{.*}}:3 = mp.rmsprop<momentum = 5.000000e-01, centered = true> {{.*}}
  %1:4 = mp.rmsprop<momentum = 0.5, centered = true> %p, %g, %lr, %s, %s, %s
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// CHECK-LABEL: @adagrad_lion_lamb
func.func @adagrad_lion_lamb(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>, %s: tensor<4xf32>) {
  // CHECK: mp.adagrad %{{.*}}, %{{.*}}, %{{.*}}, %{{[^ ]*}} : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
  %0:2 = mp.adagrad %p, %g, %lr, %s : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
  // CHECK: mp.lion<weight_decay = 1.000000e-02> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
  %1:2 = mp.lion<weight_decay = 1.0e-2> %p, %g, %s, %lr : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
  // CHECK: mp.lamb_direction %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{[^ ]*}} :
  %2:3 = mp.lamb_direction %p, %g, %s, %s, %lr, %lr
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
  return
}

// CHECK-LABEL: @ema_and_clipping
func.func @ema_and_clipping(%a: tensor<4xf32>, %step: tensor<i64>, %norm: tensor<f32>) {
  // CHECK: mp.ema %{{.*}}, %{{.*}}, %{{.*}} {decay = 9.000000e-01 : f64} : tensor<4xf32>, tensor<4xf32>, tensor<i64>
  %0 = mp.ema %a, %a, %step {decay = 0.9} : tensor<4xf32>, tensor<4xf32>, tensor<i64>
  // CHECK: mp.clip_factor %{{.*}} {max_norm = 1.000000e+00 : f64} : tensor<f32>
  %1 = mp.clip_factor %norm {max_norm = 1.0} : tensor<f32>
  return
}

// Arguments equal to their defaults are left out; numbers need no point.
// CHECK-LABEL: @attributes
func.func private @attributes() attributes {
  // CHECK-SAME: a = #mp.sgd, b = #mp.sgd<lr = 1.000000e-01, momentum = 9.000000e-01, nesterov = true>
  a = #mp.sgd<lr = 0.001, nesterov = false>, b = #mp.sgd<lr = 1.0e-1, momentum = 0.9, nesterov = true>,
  // CHECK-SAME: c = #mp.adamw<lr = 1, weight_decay = 0>
  c = #mp.adamw<lr = 1, weight_decay = 0>,
  // CHECK-SAME: d = #mp.adam<beta1 = 5.000000e-01, beta2 = 0, amsgrad = true, maximize = true>, e = #mp.adamw
  d = #mp.adam<betas = (0.5, 0), amsgrad = true, maximize = true>, e = #mp.adamw<betas = (0.9, 0.999)>,
  // CHECK-SAME: f = #mp.rmsprop<momentum = 5.000000e-01, centered = true>
  f = #mp.rmsprop<momentum = 0.5, centered = true>,
  // CHECK-SAME: g = #mp.adagrad<lr_decay = 1.000000e-01, initial_accumulator_value = 2>
  g = #mp.adagrad<lr_decay = 0.1, initial_accumulator_value = 2>,
  // CHECK-SAME: h = #mp.lamb<eps = 1.000000e-03>, i = #mp.lion<lr = 1>
  h = #mp.lamb<eps = 1.0e-3>, i = #mp.lion<lr = 1>}
