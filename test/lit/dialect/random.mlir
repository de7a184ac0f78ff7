// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt -mlir-print-op-generic %s | mp-opt | FileCheck %s

// Passes set streams and keys, but the text may have them too.
// CHECK-LABEL: @numbers
func.func @numbers(%p: tensor<4xf16>, %seed: tensor<i64>, %attempt: tensor<i64>, %micro: tensor<i64>) {
  // CHECK: mp.uniform : tensor<4xf32>
  %0 = mp.uniform : tensor<4xf32>
  // CHECK: mp.uniform stream(3) {high = 2.000000e+00 : f64, low = -1.000000e+00 : f64} : tensor<?x4xbf16>
  %1 = mp.uniform stream(3) {low = -1.0, high = 2.0} : tensor<?x4xbf16>
  // CHECK: mp.normal stream(0) key(%{{.*}}, %{{.*}}) : tensor<4x8xf64>
  %2 = mp.normal stream(0) key(%seed, %attempt) : tensor<4x8xf64>
  // CHECK: mp.normal {mean = 1.000000e+00 : f64, std = 2.000000e-02 : f64} : tensor<f16>
  %3 = mp.normal {mean = 1.0, std = 2.0e-2} : tensor<f16>
  // CHECK: mp.bernoulli %{{.*}} stream(4294967295) key(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<4xf16>
  %4 = mp.bernoulli %p stream(4294967295) key(%seed, %attempt, %micro) : tensor<4xf16>
  // CHECK: mp.random_key stream(2) key(%{{.*}}, %{{.*}})
  %5 = mp.random_key stream(2) key(%seed, %attempt)
  // CHECK: mp.gumbel stream(5) : tensor<?x4xf32>
  %6 = mp.gumbel stream(5) : tensor<?x4xf32>
  return
}

// CHECK-LABEL: @categorical
// CHECK-SAME: -> (tensor<?xi32>, tensor<?x5xi32>)
func.func @categorical(%x: tensor<?x5x100xf16>, %y: tensor<?x100xf32>, %seed: tensor<i64>, %attempt: tensor<i64>)
    -> (tensor<?xi32>, tensor<?x5xi32>) {
  // CHECK: mp.categorical %{{.*}} dim(1) : tensor<?x100xf32>
  %0 = mp.categorical %y dim(1) : tensor<?x100xf32>
  // CHECK: mp.categorical %{{.*}} dim(2) stream(1) key(%{{.*}}, %{{.*}}) : tensor<?x5x100xf16>
  %1 = mp.categorical %x dim(2) stream(1) key(%seed, %attempt) : tensor<?x5x100xf16>
  return %0, %1 : tensor<?xi32>, tensor<?x5xi32>
}

// CHECK-LABEL: @dropout
func.func @dropout(%x: tensor<?x4xf32>, %seed: tensor<i64>, %attempt: tensor<i64>) {
  // CHECK: mp.dropout %{{.*}} : tensor<?x4xf32>
  %0 = mp.dropout %x : tensor<?x4xf32>
  // CHECK: mp.dropout %{{.*}} stream(1) key(%{{.*}}, %{{.*}}) {p = 1.000000e-01 : f64} : tensor<?x4xf32>
  %1 = mp.dropout %x stream(1) key(%seed, %attempt) {p = 0.1} : tensor<?x4xf32>
  // CHECK: mp.dropout_backward %{{.*}} stream(1) key(%{{.*}}, %{{.*}}) {p = 1.000000e-01 : f64} : tensor<?x4xf32>
  %2 = mp.dropout_backward %x stream(1) key(%seed, %attempt) {p = 0.1} : tensor<?x4xf32>
  return
}

// CHECK-LABEL: @stochastic_round
func.func @stochastic_round(%x: tensor<4xf32>) {
  // CHECK: mp.stochastic_round %{{.*}} : tensor<4xf32> to tensor<4xbf16>
  %0 = mp.stochastic_round %x : tensor<4xf32> to tensor<4xbf16>
  // CHECK: mp.stochastic_round %{{.*}} stream(2) : tensor<4xf32> to tensor<4xf16>
  %1 = mp.stochastic_round %x stream(2) : tensor<4xf32> to tensor<4xf16>
  return
}

// CHECK: mp.variable attempt @random.seed : tensor<i64> = #mp.init<seed>
mp.variable attempt @random.seed : tensor<i64> = #mp.init<seed>
