// RUN: mp-opt %s --mp-hoist-loops --canonicalize | FileCheck %s
// RUN: mp-opt %s --mp-hoist-loops=casts=false --canonicalize | FileCheck %s --check-prefix=KEPT

// A weight is cast once. Slices are cast after they are taken, and values before they are stacked, where the type is
// the narrower one. What a round casts first, the round before has cast; what it leaves is read outside, too.
// CHECK: func.func private @body(%{{.*}}: tensor<8x8xf16>, %{{.*}}: tensor<4x8xf32>, %[[H:.*]]: tensor<4x8xf16>, %[[X:.*]]: tensor<4x8xf16>)
// CHECK-SAME: -> (tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x8xf16>)
// CHECK: mp.cast %[[X]] : tensor<4x8xf16> to tensor<4x8xf32>
// CHECK: %[[P:.*]] = mp.linear %[[H]]
// CHECK: %[[S:.*]] = mp.add
// CHECK: %[[N:.*]] = mp.cast %[[S]] : tensor<4x8xf32> to tensor<4x8xf16>
// CHECK: return %[[S]], %[[N]], %[[P]]
// KEPT: func.func private @body(%{{.*}}: tensor<8x8xf16>, %{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<4x8xf32>)
// KEPT-SAME: -> (tensor<4x8xf32>, tensor<4x8xf32>)
func.func private @body(%w: tensor<8x8xf32>, %h: tensor<4x8xf32>, %x: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {mp.loop_body} {
  %v = mp.cast %w : tensor<8x8xf32> to tensor<8x8xf16>
  %g = mp.cast %h : tensor<4x8xf32> to tensor<4x8xf16>
  %p = mp.linear %g, %v : tensor<4x8xf16>, tensor<8x8xf16>
  %q = mp.cast %p : tensor<4x8xf16> to tensor<4x8xf32>
  %s = mp.add %q, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s, %q : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @f
func.func @f(%w: tensor<8x8xf32>, %h: tensor<4x8xf32>, %xs: tensor<4x9x8xf16>)
    -> (tensor<4x8xf32>, tensor<4x9x8xf32>) {
  // CHECK: %[[W:.*]] = mp.cast %{{.*}} : tensor<8x8xf32> to tensor<8x8xf16>
  // CHECK: %[[X:.*]] = mp.transpose %{{.*}} [1, 0, 2] : tensor<4x9x8xf16>
  // CHECK: %[[H:.*]] = mp.cast %[[H0:.*]] : tensor<4x8xf32> to tensor<4x8xf16>
  // CHECK: %[[R:.*]]:3 = mp.loop @body invariant(%[[W]] : tensor<8x8xf16>) carried(%[[H0]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf16>)
  // CHECK-SAME: over(%[[X]] : tensor<9x4x8xf16>) rounds(9) -> tensor<4x8xf32>, tensor<4x8xf16>, tensor<9x4x8xf16>
  // CHECK: %[[T:.*]] = mp.transpose %[[R]]#2 [1, 0, 2] : tensor<9x4x8xf16>
  // CHECK: mp.cast %[[T]] : tensor<4x9x8xf16> to tensor<4x9x8xf32>
  %c = mp.cast %xs : tensor<4x9x8xf16> to tensor<4x9x8xf32>
  %t = mp.transpose %c [1, 0, 2] : tensor<4x9x8xf32>
  %r:2 = mp.loop @body invariant(%w : tensor<8x8xf32>) carried(%h : tensor<4x8xf32>) over(%t : tensor<9x4x8xf32>)
      rounds(9) -> tensor<4x8xf32>, tensor<9x4x8xf32>
  %u = mp.transpose %r#1 [1, 0, 2] : tensor<9x4x8xf32>
  return %r#0, %u : tensor<4x8xf32>, tensor<4x9x8xf32>
}

// What all users cast to a narrower type is stacked in it.
// CHECK: func.func private @wide(%{{.*}}: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf16>)
func.func private @wide(%h: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {mp.loop_body} {
  %t = mp.tanh %h : tensor<4xf32>
  return %t, %t : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @g
func.func @g(%h: tensor<4xf32>) -> tensor<9x4xf16> {
  // CHECK: %[[R:.*]]:2 = mp.loop @wide
  // CHECK: return %[[R]]#1
  %r:2 = mp.loop @wide carried(%h : tensor<4xf32>) rounds(9) -> tensor<4xf32>, tensor<9x4xf32>
  %c = mp.cast %r#1 : tensor<9x4xf32> to tensor<9x4xf16>
  return %c : tensor<9x4xf16>
}

// Of stacks that are the same, one is left, and no value that neither a round nor anything outside reads.
// CHECK-LABEL: func.func @once
func.func @once(%h: tensor<4xf32>) -> (tensor<9x4xf16>, tensor<9x4xf16>) {
  // CHECK: %[[H:.*]] = mp.cast %arg0 : tensor<4xf32> to tensor<4xf16>
  // CHECK: %[[R:.*]]:2 = mp.loop @stacks carried(%[[H]] : tensor<4xf16>) rounds(9) -> tensor<4xf16>, tensor<9x4xf16>
  // CHECK: return %[[R]]#1, %[[R]]#1
  %r:4 = mp.loop @stacks carried(%h : tensor<4xf32>) rounds(9)
      -> tensor<4xf32>, tensor<9x4xf32>, tensor<9x4xf16>, tensor<9x4xf32>
  %c = mp.cast %r#1 : tensor<9x4xf32> to tensor<9x4xf16>
  return %c, %r#2 : tensor<9x4xf16>, tensor<9x4xf16>
}
// CHECK: func.func private @stacks(%[[H:.*]]: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>)
func.func private @stacks(%h: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<4xf32>)
    attributes {mp.loop_body} {
  %c = mp.cast %h : tensor<4xf32> to tensor<4xf16>
  %t = mp.tanh %c : tensor<4xf16>
  %w = mp.cast %t : tensor<4xf16> to tensor<4xf32>
  %e = mp.exp %w : tensor<4xf32>
  return %w, %w, %t, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<4xf32>
}

// What a round widens last, it carries as it was, if the first value has no more bits. A sum has more.
// CHECK-LABEL: func.func @left
func.func @left(%h: tensor<4xf32>, %x: tensor<4xf16>) -> tensor<4xf32> {
  // CHECK: %[[ZERO:.*]] = mp.constant dense<0.0{{.*}}> : tensor<4xf16>
  // CHECK: mp.loop @widens carried(%[[ZERO]], %arg1, %arg0 : tensor<4xf16>, tensor<4xf16>, tensor<4xf32>)
  %zero = mp.constant dense<0.0> : tensor<4xf32>
  %y = mp.cast %x : tensor<4xf16> to tensor<4xf32>
  %r:3 = mp.loop @widens carried(%zero, %y, %h : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) rounds(9)
      -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return %r#0 : tensor<4xf32>
}
// CHECK: func.func private @widens(%{{.*}}: tensor<4xf16>, %{{.*}}: tensor<4xf16>, %{{.*}}: tensor<4xf32>)
func.func private @widens(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {mp.loop_body} {
  %s = mp.add %a, %b : tensor<4xf32>, tensor<4xf32>
  %t = mp.add %s, %c : tensor<4xf32>, tensor<4xf32>
  %n = mp.cast %t : tensor<4xf32> to tensor<4xf16>
  %w = mp.cast %n : tensor<4xf16> to tensor<4xf32>
  return %w, %w, %w : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What leaves an inner loop leaves the one around it too. Each loop has a body of its own.
// CHECK-LABEL: func.func @nested
func.func @nested(%w: tensor<8x8xf32>, %h: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[V:.*]] = mp.neg %arg0
  // CHECK-NEXT: mp.loop @outer invariant(%[[V]] : tensor<8x8xf32>) carried(%arg1 : tensor<4x8xf32>)
  // CHECK: mp.loop @[[OTHER:.*]] invariant(
  %a = mp.loop @outer invariant(%w : tensor<8x8xf32>) carried(%h : tensor<4x8xf32>) rounds(9) -> tensor<4x8xf32>
  %u = mp.exp %w : tensor<8x8xf32>
  %b = mp.loop @outer invariant(%u : tensor<8x8xf32>) carried(%a : tensor<4x8xf32>) rounds(9) -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}
// CHECK: func.func private @outer(
// CHECK-NEXT: mp.loop @inner invariant(
// CHECK: func.func private @[[OTHER]](
// CHECK-NOT: mp.loop @inner invariant
func.func private @outer(%w: tensor<8x8xf32>, %h: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mp.loop_body} {
  %a = mp.loop @inner invariant(%w : tensor<8x8xf32>) carried(%h : tensor<4x8xf32>) rounds(5) -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}
func.func private @inner(%w: tensor<8x8xf32>, %h: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mp.loop_body} {
  %v = mp.neg %w : tensor<8x8xf32>
  %p = mp.linear %h, %v : tensor<4x8xf32>, tensor<8x8xf32>
  return %p : tensor<4x8xf32>
}
