// RUN: mp-opt %s -mp-number-streams -mp-number-streams | FileCheck %s

// Streams are numbered in order, skipping taken numbers, in all functions together.
// CHECK-LABEL: @first
func.func @first(%x: tensor<4xf32>) {
  // CHECK: mp.dropout %{{.*}} stream(0) {
  %0 = mp.dropout %x {p = 0.1} : tensor<4xf32>
  // CHECK: mp.dropout %{{.*}} stream(2) {
  %1 = mp.dropout %x {p = 0.1} : tensor<4xf32>
  // CHECK: mp.uniform stream(1) :
  %2 = mp.uniform stream(1) : tensor<4xf32>
  return
}

// CHECK-LABEL: @second
func.func @second() {
  // CHECK: mp.normal stream(4) :
  %0 = mp.normal : tensor<4xf32>
  // CHECK: mp.normal stream(3) :
  %1 = mp.normal stream(3) : tensor<4xf32>
  // CHECK: mp.normal stream(5) :
  %2 = mp.normal : tensor<4xf32>
  return
}

// A function that is made from another one has its streams.
// CHECK-LABEL: @copy
func.func @copy() {
  // CHECK: mp.normal stream(3) :
  %0 = mp.normal stream(3) : tensor<4xf32>
  return
}

// Backward draws again, and so may forward: activations are computed again.
// CHECK-LABEL: @step
func.func @step(%x: tensor<4xf32>) {
  // CHECK: mp.dropout %{{.*}} stream(6)
  %0 = mp.dropout %x stream(6) : tensor<4xf32>
  // CHECK: mp.seed
  %1 = mp.seed : tensor<f32>
  // CHECK: mp.dropout %{{.*}} stream(6)
  %2 = mp.dropout %x stream(6) : tensor<4xf32>
  // CHECK: mp.dropout_backward %{{.*}} stream(6)
  %3 = mp.dropout_backward %x stream(6) : tensor<4xf32>
  // CHECK: mp.stochastic_round %{{.*}} stream(7)
  %4 = mp.stochastic_round %x : tensor<4xf32> to tensor<4xbf16>
  return
}
