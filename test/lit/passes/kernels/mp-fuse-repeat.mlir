// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s

// Going backward, silu is computed of the gate again: each kernel has its own, and nothing is stored but what the products
// read.
// CHECK-LABEL: @swiglu(
// CHECK:         mp.kernel({{.*}}) attributes {ops = "silu mul"} -> tensor<8x6xf32>
// CHECK:         mp.kernel({{.*}}) attributes {ops = "matmul mul silu mul silu_backward"} -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
func.func @swiglu(%x: tensor<2x4x6xf32>, %y: tensor<2x4x6xf32>, %w: tensor<6x6xf32>, %g: tensor<8x6xf32>)
    -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) {
  %s = mp.silu %x : tensor<2x4x6xf32>
  %h = mp.mul %s, %y : tensor<2x4x6xf32>, tensor<2x4x6xf32>
  %r = mp.reshape %h : tensor<2x4x6xf32> to tensor<8x6xf32>
  %o = mp.matmul %r, %w : tensor<8x6xf32>, tensor<6x6xf32>
  %b = mp.mul %g, %o : tensor<8x6xf32>, tensor<8x6xf32>
  %x2 = mp.reshape %x : tensor<2x4x6xf32> to tensor<8x6xf32>
  %s2 = mp.reshape %s : tensor<2x4x6xf32> to tensor<8x6xf32>
  %d = mp.mul %b, %s2 : tensor<8x6xf32>, tensor<8x6xf32>
  %e = mp.silu_backward %b, %x2 : tensor<8x6xf32>, tensor<8x6xf32>
  return %o, %d, %e : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>
}

// Nothing reads the operand later: keeping it would be as much as keeping the result.
// CHECK-LABEL: @alone(
// CHECK:         mp.kernel({{.*}}) attributes {ops = "tanh mul"} -> (tensor<8x6xf32>, tensor<8x6xf32>)
// CHECK:         mp.kernel({{.*}}) attributes {ops = "matmul tanh_backward"}
func.func @alone(%x: tensor<8x6xf32>, %w: tensor<6x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %t = mp.tanh %x : tensor<8x6xf32>
  %h = mp.mul %t, %t : tensor<8x6xf32>, tensor<8x6xf32>
  %o = mp.matmul %h, %w : tensor<8x6xf32>, tensor<6x6xf32>
  %d = mp.tanh_backward %o, %t : tensor<8x6xf32>, tensor<8x6xf32>
  return %o, %d : tensor<8x6xf32>, tensor<8x6xf32>
}

// A product reads the result, so that it is stored in any case.
// CHECK-LABEL: @stored(
// CHECK:         mp.kernel({{.*}}) attributes {ops = "gelu"} -> tensor<8x6xf32>
// CHECK:         mp.kernel({{.*}}) attributes {ops = "matmul gelu_backward mul"}
func.func @stored(%x: tensor<8x6xf32>, %w: tensor<6x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %t = mp.gelu %x : tensor<8x6xf32>
  %o = mp.matmul %t, %w : tensor<8x6xf32>, tensor<6x6xf32>
  %e = mp.gelu_backward %o, %x : tensor<8x6xf32>, tensor<8x6xf32>
  %d = mp.mul %e, %t : tensor<8x6xf32>, tensor<8x6xf32>
  return %o, %d : tensor<8x6xf32>, tensor<8x6xf32>
}

// No kernel stands between the uses: one computes silu once for both.
// CHECK-LABEL: @near(
// CHECK:         mp.kernel({{.*}}) attributes {ops = "silu mul add silu_backward"}
func.func @near(%x: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) {
  %s = mp.silu %x : tensor<8x6xf32>
  %h = mp.mul %s, %x : tensor<8x6xf32>, tensor<8x6xf32>
  %k = mp.add %s, %x : tensor<8x6xf32>, tensor<8x6xf32>
  %e = mp.silu_backward %h, %x : tensor<8x6xf32>, tensor<8x6xf32>
  return %h, %k, %e : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>
}
