// RUN: mp-opt %s --mp-inline-rounds | FileCheck %s

// A loop of one round is its ops; others stay, with their body.
// CHECK-LABEL: func.func @once(
// CHECK-SAME:      %[[W:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<1x4xf32>, %[[H:.*]]: tensor<4xf32>)
func.func @once(%w: tensor<4xf32>, %x: tensor<1x4xf32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<1x4xf32>) {
  // CHECK: %[[X0:.*]] = mp.reshape %[[X]] : tensor<1x4xf32> to tensor<4xf32>
  // CHECK: %[[Y:.*]] = mp.mul %[[X0]], %[[W]]
  // CHECK: %[[S:.*]] = mp.add %[[H]], %[[Y]]
  // CHECK: %[[ALL:.*]] = mp.reshape %[[Y]] : tensor<4xf32> to tensor<1x4xf32>
  // CHECK: return %[[S]], %[[ALL]]
  %r:2 = mp.loop @round invariant(%w : tensor<4xf32>) carried(%h : tensor<4xf32>) over(%x : tensor<1x4xf32>) rounds(1)
      -> tensor<4xf32>, tensor<1x4xf32>
  return %r#0, %r#1 : tensor<4xf32>, tensor<1x4xf32>
}

// CHECK-LABEL: func.func @several(
func.func @several(%w: tensor<4xf32>, %x: tensor<2x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: mp.loop @round
  %r:2 = mp.loop @round invariant(%w : tensor<4xf32>) carried(%h : tensor<4xf32>) over(%x : tensor<2x4xf32>) rounds(2)
      -> tensor<4xf32>, tensor<2x4xf32>
  return %r#0 : tensor<4xf32>
}

// CHECK: func.func private @round(
func.func private @round(%w: tensor<4xf32>, %h: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {mp.loop_body} {
  %y = mp.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  %s = mp.add %h, %y : tensor<4xf32>, tensor<4xf32>
  return %s, %y : tensor<4xf32>, tensor<4xf32>
}
// CHECK-NOT: func.func
