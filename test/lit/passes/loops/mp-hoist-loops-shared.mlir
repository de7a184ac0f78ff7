// RUN: mp-opt %s --mp-hoist-loops --canonicalize | FileCheck %s

// Loops of two functions share a body: each gets one of its own before either is changed.

// CHECK: func.func private @[[FIRST:.*]](%{{.*}}: tensor<8x8xf16>, %{{.*}}: tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK: func.func private @[[SECOND:.*]](%{{.*}}: tensor<8x8xf16>, %{{.*}}: tensor<4x8xf16>) -> tensor<4x8xf16>
func.func private @body(%w: tensor<8x8xf32>, %h: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {mp.loop_body} {
  %v = mp.cast %w : tensor<8x8xf32> to tensor<8x8xf16>
  %p = mp.linear %h, %v : tensor<4x8xf16>, tensor<8x8xf16>
  return %p : tensor<4x8xf16>
}

// CHECK: func.func @f
// CHECK: %[[W:.*]] = mp.cast %{{.*}} : tensor<8x8xf32> to tensor<8x8xf16>
// CHECK: mp.loop @[[FIRST]] invariant(%[[W]] : tensor<8x8xf16>)
func.func @f(%w: tensor<8x8xf32>, %h: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %r = mp.loop @body invariant(%w : tensor<8x8xf32>) carried(%h : tensor<4x8xf16>) rounds(3) -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}

// CHECK: func.func @g
// CHECK: %[[V:.*]] = mp.cast %{{.*}} : tensor<8x8xf32> to tensor<8x8xf16>
// CHECK: mp.loop @[[SECOND]] invariant(%[[V]] : tensor<8x8xf16>)
func.func @g(%w: tensor<8x8xf32>, %h: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %r = mp.loop @body invariant(%w : tensor<8x8xf32>) carried(%h : tensor<4x8xf16>) rounds(3) -> tensor<4x8xf16>
  return %r : tensor<4x8xf16>
}
