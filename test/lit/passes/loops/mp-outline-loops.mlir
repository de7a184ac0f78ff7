// RUN: mp-opt %s --mp-outline-loops | FileCheck %s

mp.variable @w : tensor<8x8xf32> = #mp.init<zeros>

// Variables, and what is computed from them and constants alone, are read once. Constants are copied.
// CHECK-LABEL: func.func @cell
func.func @cell(%xs: tensor<4x9x8xf32>, %init: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x9x8xf32>) {
  // CHECK: %[[W:.*]] = mp.read @w
  // CHECK: %[[V:.*]] = mp.mul %[[W]]
  // CHECK: %[[X:.*]] = mp.transpose %{{.*}} [1, 0, 2] : tensor<4x9x8xf32>
  // CHECK: %[[R:.*]]:2 = mp.loop @cell.loop0 invariant(%[[V]] : tensor<8x8xf32>) carried(%{{.*}} : tensor<4x8xf32>)
  // CHECK-SAME: over(%[[X]] : tensor<9x4x8xf32>) rounds(9) reverse -> tensor<4x8xf32>, tensor<9x4x8xf32>
  // CHECK: %[[Y:.*]] = mp.transpose %[[R]]#1 [1, 0, 2] : tensor<9x4x8xf32>
  // CHECK: return %[[R]]#0, %[[Y]]
  %two = mp.constant dense<2.0> : tensor<f32>
  %r:2 = mp.scan carried(%h = %init : tensor<4x8xf32>) over(%x = %xs : tensor<4x9x8xf32>) dim(1) reverse
      -> (tensor<4x8xf32>, tensor<4x9x8xf32>) {
    %w = mp.read @w : tensor<8x8xf32>
    %v = mp.mul %w, %two : tensor<8x8xf32>, tensor<f32>
    %g = mp.linear %h, %v : tensor<4x8xf32>, tensor<8x8xf32>
    %s = mp.add %g, %x : tensor<4x8xf32>, tensor<4x8xf32>
    %t = mp.mul %s, %two : tensor<4x8xf32>, tensor<f32>
    mp.yield %t, %t : tensor<4x8xf32>, tensor<4x8xf32>
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<4x9x8xf32>
}

// CHECK-LABEL: func.func private @cell.loop0
// CHECK-SAME: (%[[V:.*]]: tensor<8x8xf32>, %[[H:.*]]: tensor<4x8xf32>, %[[X:.*]]: tensor<4x8xf32>)
// CHECK-SAME: attributes {mp.loop_body}
// CHECK: %[[TWO:.*]] = mp.constant
// CHECK: %[[G:.*]] = mp.linear %[[H]], %[[V]]
// CHECK: %[[S:.*]] = mp.add %[[G]], %[[X]]
// CHECK: %[[T:.*]] = mp.mul %[[S]], %[[TWO]]
// CHECK: return %[[T]], %[[T]]

// Rows that a product makes wider are transposed before it.
// CHECK-LABEL: func.func @wide
func.func @wide(%xs: tensor<4x9x8xf32>, %w: tensor<16x8xf32>, %init: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // CHECK: %[[X:.*]] = mp.transpose %{{.*}} [1, 0, 2] : tensor<4x9x8xf32>
  // CHECK-NEXT: %[[P:.*]] = mp.linear %[[X]], %{{.*}} : tensor<9x4x8xf32>, tensor<16x8xf32>
  // CHECK-NEXT: mp.loop {{.*}} over(%[[P]] : tensor<9x4x16xf32>)
  // CHECK-NEXT: return
  %p = mp.linear %xs, %w : tensor<4x9x8xf32>, tensor<16x8xf32>
  %r = mp.scan carried(%h = %init : tensor<4x16xf32>) over(%x = %p : tensor<4x9x16xf32>) dim(1) -> tensor<4x16xf32> {
    %s = mp.add %h, %x : tensor<4x16xf32>, tensor<4x16xf32>
    mp.yield %s : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}

// The function of an outer scan has the loop of an inner one. What depends on neither time step is computed once.
// CHECK-LABEL: func.func @nested
func.func @nested(%xs: tensor<3x5x4xf32>, %h: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[C:.*]] = mp.exp %arg2
  // CHECK-NEXT: mp.loop @nested.loop1 invariant(%[[C]] : tensor<4xf32>) carried(%arg1 : tensor<4xf32>)
  // CHECK-SAME: over(%arg0 : tensor<3x5x4xf32>) rounds(3) -> tensor<4xf32>
  %r = mp.scan carried(%g = %h : tensor<4xf32>) over(%x = %xs : tensor<3x5x4xf32>) -> tensor<4xf32> {
    %s = mp.scan carried(%f = %g : tensor<4xf32>) over(%y = %x : tensor<5x4xf32>) -> tensor<4xf32> {
      %c = mp.exp %b : tensor<4xf32>
      %d = mp.neg %g : tensor<4xf32>
      %e = mp.add %c, %d : tensor<4xf32>, tensor<4xf32>
      %i = mp.add %e, %y : tensor<4xf32>, tensor<4xf32>
      %t = mp.mul %f, %i : tensor<4xf32>, tensor<4xf32>
      mp.yield %t : tensor<4xf32>
    }
    mp.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK: func.func private @nested.loop1(%[[C:.*]]: tensor<4xf32>, %[[G:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<5x4xf32>)
// CHECK: %[[D:.*]] = mp.neg %[[G]]
// CHECK: %[[E:.*]] = mp.add %[[C]], %[[D]]
// CHECK: mp.loop @nested.loop0 invariant(%[[E]] : tensor<4xf32>) carried(%[[G]] : tensor<4xf32>)
// CHECK-SAME: over(%[[X]] : tensor<5x4xf32>) rounds(5) -> tensor<4xf32>
// CHECK: func.func private @nested.loop0
