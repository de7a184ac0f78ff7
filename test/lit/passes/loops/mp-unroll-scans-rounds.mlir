// RUN: mp-opt %s --mp-unroll-scans | FileCheck %s
// An op of a round is of a time step of each, and has no number in its location: those of @whole alone do, three and six.
// RUN: mp-opt %s --mp-unroll-scans --mlir-print-debuginfo | grep -c '"time step [0-9]"' | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: {{^9$}}

// A scan that could be a loop stays.
// CHECK-LABEL: @kept
func.func @kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: mp.scan carried
  %y = mp.scan carried(%a = %x : tensor<4xf32>) length(50000) -> tensor<4xf32> {
    %b = mp.relu %a : tensor<4xf32>
    mp.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// Rounds of two time steps, and the last time step by itself.
// CHECK-LABEL: @rounds
func.func @rounds(%x: tensor<4xf32>, %ys: tensor<5x4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
  // CHECK: %[[MOST:.*]] = mp.slice %{{.*}} offsets[0, 0] sizes[4, -1]
  // CHECK: %[[SPLIT:.*]] = mp.reshape %[[MOST]] : tensor<4x4xf32> to tensor<2x2x4xf32>
  // CHECK: %[[R:.*]]:2 = mp.scan carried(%{{.*}}) over(%{{.*}} = %[[SPLIT]] : tensor<2x2x4xf32>) length(2)
  // CHECK-COUNT-2: mp.add
  // CHECK: mp.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<2x4xf32>
  // CHECK: %[[LAST:.*]] = mp.add %[[R]]#0
  // CHECK: return %[[LAST]]
  %r:2 = mp.scan carried(%a = %x : tensor<4xf32>) over(%y = %ys : tensor<5x4xf32>) unroll(2)
      -> (tensor<4xf32>, tensor<5x4xf32>) {
    %b = mp.add %a, %y : tensor<4xf32>, tensor<4xf32>
    mp.yield %b, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<5x4xf32>
}

// No loop is left of as many time steps as a round has, or of those of a scan that is no loop.
// CHECK-LABEL: @whole
func.func @whole(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: mp.scan
  %y = mp.scan carried(%a = %x : tensor<4xf32>) length(3) unroll(3) -> tensor<4xf32> {
    %b = mp.relu %a : tensor<4xf32>
    mp.yield %b : tensor<4xf32>
  }
  %z = mp.scan carried(%a = %y : tensor<4xf32>) length(6) unroll(2) -> tensor<4xf32> {
    %b = mp.dropout %a stream(7) : tensor<4xf32>
    mp.yield %b : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}
