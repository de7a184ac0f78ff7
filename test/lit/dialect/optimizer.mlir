// RUN: mp-opt %s | mp-opt | FileCheck %s

// CHECK-LABEL: @sgd
func.func @sgd(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>, %step: tensor<i64>, %m: tensor<4xf32>) {
  // CHECK: mp.sgd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {weight_decay = 1.000000e-02 : f64} : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>
  %p1 = mp.sgd %p, %g, %lr, %step {weight_decay = 1.0e-2} : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>
  // CHECK: %{{.*}}, %{{.*}} = mp.sgd %{{.*}} {momentum = 9.000000e-01 : f64, nesterov}
  %p2, %m2 = mp.sgd %p, %g, %lr, %step, %m {momentum = 9.0e-1, nesterov}
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<4xf32>
  return
}

// CHECK-LABEL: @adamw
func.func @adamw(%p: tensor<4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %lr: tensor<f32>, %step: tensor<i64>) {
  // CHECK: mp.bias_correction %{{.*}} {beta = 0.99{{[0-9]*}} : f64} : tensor<i64>
  %c = mp.bias_correction %step {beta = 9.99e-1} : tensor<i64>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = mp.adamw %{{.*}} {beta1 = 8.000000e-01 : f64}
  %p1, %m1, %v1 = mp.adamw %p, %g, %m, %v, %lr, %c, %c {beta1 = 8.0e-1}
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// Arguments equal to their defaults are left out; numbers need no point.
// CHECK-LABEL: @attributes
func.func private @attributes() attributes {
  // CHECK-SAME: a = #mp.sgd, b = #mp.sgd<lr = 1.000000e-01, momentum = 9.000000e-01, nesterov = true>
  a = #mp.sgd<lr = 0.001, nesterov = false>, b = #mp.sgd<lr = 1.0e-1, momentum = 0.9, nesterov = true>,
  // CHECK-SAME: c = #mp.adamw<lr = 1, weight_decay = 0>, d = #mp.constant
  c = #mp.adamw<lr = 1, weight_decay = 0>, d = #mp.constant,
  // CHECK-SAME: e = #mp.linear, f = #mp.linear<from = 2.500000e-01, to = 1, steps = 100>
  e = #mp.linear<>, f = #mp.linear<from = 0.25, to = 1, steps = 100>}
