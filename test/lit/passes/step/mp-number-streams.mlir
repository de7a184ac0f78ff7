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

// In a scan, an op also takes the number of the time step, among those of all
// scans around it. Numbering again changes nothing.
// CHECK-LABEL: @scans
func.func @scans(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[IOTA:.*]] = mp.iota dim(1) : tensor<1x3xi32>
  // CHECK: %[[OUTER:.*]] = mp.cast %[[IOTA]] : tensor<1x3xi32> to tensor<1x3xi64>
  // CHECK: mp.scan carried(%{{.*}} = %{{.*}} : tensor<2x4xf32>) over(%[[I:.*]] = %[[OUTER]] : tensor<1x3xi64>) dim(1)
  %r = mp.scan carried(%a = %x : tensor<2x4xf32>) dim(1) length(3) -> tensor<2x4xf32> {
    // CHECK: %[[I0:.*]] = mp.reshape %[[I]] : tensor<1xi64> to tensor<i64>
    // CHECK: mp.scan {{.*}} over(%[[J:.*]] = %{{.*}} : tensor<5xi64>)
    %s = mp.scan carried(%b = %a : tensor<2x4xf32>) length(5) -> tensor<2x4xf32> {
      // CHECK: %[[FIVE:.*]] = mp.constant dense<5> : tensor<i64>
      // CHECK: %[[BEFORE:.*]] = mp.mul %[[I0]], %[[FIVE]]
      // CHECK: %[[STEP:.*]] = mp.add %[[BEFORE]], %[[J]]
      // CHECK: mp.dropout %{{.*}} stream(8) key(%[[STEP]])
      %y = mp.dropout %b : tensor<2x4xf32>
      mp.yield %y : tensor<2x4xf32>
    }
    // CHECK: mp.dropout %{{.*}} stream(9) key(%[[I0]])
    %z = mp.dropout %s : tensor<2x4xf32>
    mp.yield %z : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}
