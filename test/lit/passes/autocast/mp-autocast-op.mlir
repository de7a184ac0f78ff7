// RUN: mp-opt %s -split-input-file -verify-diagnostics -mp-autocast='dtype=f16 policy=keras' | FileCheck %s
// RUN: mp-opt %s -split-input-file -verify-diagnostics -mp-autocast='dtype=f16 policy=tf-fp16' | FileCheck %s

// An op's own attribute overrides any policy, op by op and in a coloured graph.
// CHECK-LABEL: @output_layer
func.func @output_layer(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: mp.linear %{{.*}} : tensor<4x8xf16>, tensor<8x8xf16>
  %h = mp.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  // CHECK: mp.exp %{{.*}} : tensor<4x8xf16>
  %e = mp.exp %h {mp.autocast = "low"} : tensor<4x8xf32>
  // CHECK: mp.linear %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
  %y = mp.linear %h, %w {mp.autocast = "f32"} : tensor<4x8xf32>, tensor<8x8xf32>
  return %y, %e : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

func.func @word(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mp.autocast' is "f16", expected "f32" or "low"}}
  %y = mp.exp %x {mp.autocast = "f16"} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @place(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mp.autocast' stands on an op that autocast leaves alone}}
  %c = mp.constant {mp.autocast = "f32"} dense<1.0> : tensor<4xf32>
  return %c : tensor<4xf32>
}
