// RUN: mp-opt %s | mp-opt | FileCheck %s

func.func private @body(%w: tensor<f32>, %s: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = mp.mul %x, %w : tensor<4xf32>, tensor<f32>
  %t = mp.add %s, %y : tensor<4xf32>, tensor<4xf32>
  return %t, %y : tensor<4xf32>, tensor<4xf32>
}

func.func private @count(%n: tensor<f32>) -> tensor<f32> {
  %m = mp.add %n, %n : tensor<f32>, tensor<f32>
  return %m : tensor<f32>
}

// CHECK-LABEL: @sums
func.func @sums(%w: tensor<f32>, %zero: tensor<4xf32>, %xs: tensor<9x4xf32>) -> (tensor<4xf32>, tensor<9x4xf32>) {
  // CHECK: mp.loop @body invariant(%{{.*}} : tensor<f32>) carried(%{{.*}} : tensor<4xf32>)
  // CHECK-SAME: over(%{{.*}} : tensor<9x4xf32>) rounds(9) reverse -> tensor<4xf32>, tensor<9x4xf32>
  %all:2 = mp.loop @body invariant(%w : tensor<f32>) carried(%zero : tensor<4xf32>) over(%xs : tensor<9x4xf32>)
      rounds(9) reverse -> tensor<4xf32>, tensor<9x4xf32>
  return %all#0, %all#1 : tensor<4xf32>, tensor<9x4xf32>
}

// CHECK-LABEL: @power
func.func @power(%one: tensor<f32>) -> tensor<f32> {
  // CHECK: mp.loop @count carried(%{{.*}} : tensor<f32>) rounds(3) -> tensor<f32>
  %r = mp.loop @count carried(%one : tensor<f32>) rounds(3) -> tensor<f32>
  return %r : tensor<f32>
}
