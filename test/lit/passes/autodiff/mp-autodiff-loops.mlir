// RUN: mp-opt %s --mp-autodiff=function=f | FileCheck %s

func.func private @body(%w: tensor<8x8xf32>, %h: tensor<4x8xf32>, %x: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {mp.loop_body} {
  %g = mp.linear %h, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %s = mp.add %g, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %t = mp.tanh %s : tensor<4x8xf32>
  return %t, %t : tensor<4x8xf32>, tensor<4x8xf32>
}

// Backward adds the gradient that a round stacked to the one that the round after it carried, and stacks that of `%x`.
// CHECK: func.func private @[[$BACKWARD:body.loop[0-9]+]](%[[W:.*]]: tensor<8x8xf32>, %[[CARRIED:.*]]: tensor<4x8xf32>, %[[STACKED:[^:]*]]: tensor<4x8xf32>, %[[T:.*]]: tensor<4x8xf32>)
// CHECK: %[[D:.*]] = mp.add %[[CARRIED]], %[[STACKED]]
// CHECK: %[[G:.*]] = mp.tanh_backward %[[D]], %[[T]]
// CHECK: %[[H:.*]] = mp.matmul %[[G]], %[[W]]
// CHECK: return %[[H]], %[[G]]

// Forward stacks `%h` too, and `%t` once.
// CHECK: func.func private @[[$FORWARD:body.loop[0-9]+]]
// CHECK: return %[[T:.*]], %[[T]], %arg1

func.func @f(%w: tensor<8x8xf32>, %h: tensor<4x8xf32>, %xs: tensor<9x4x8xf32>) -> tensor<f32> {
  %r:2 = mp.loop @body invariant(%w : tensor<8x8xf32>) carried(%h : tensor<4x8xf32>) over(%xs : tensor<9x4x8xf32>)
      rounds(9) -> tensor<4x8xf32>, tensor<9x4x8xf32>
  %s = mp.sum %r#1 dims[0, 1, 2] : tensor<9x4x8xf32>
  return %s : tensor<f32>
}

// The gradient of the weight is one product of all rounds' rows.
// CHECK-LABEL: @f.gradient
// CHECK: %[[R:.*]]:3 = mp.loop @[[$FORWARD]]
// CHECK: %[[B:.*]]:2 = mp.loop @[[$BACKWARD]] {{.*}} rounds(9) reverse -> tensor<4x8xf32>, tensor<9x4x8xf32>
// CHECK: %[[ROWS:.*]] = mp.reshape %[[B]]#1 : tensor<9x4x8xf32> to tensor<36x8xf32>
// CHECK: %[[HS:.*]] = mp.reshape %[[R]]#2 : tensor<9x4x8xf32> to tensor<36x8xf32>
// CHECK: %[[DW:.*]] = mp.matmul %[[ROWS]], %[[HS]] transpose_a
// CHECK: return %[[DW]], %[[B]]#0, %[[B]]#1
