// RUN: mp-opt %s -mp-autocast | FileCheck %s
// RUN: echo '{"extends": "torch", "allow": ["mp.exp"], "deny": ["class:contraction"]}' >%t.json
// RUN: mp-opt %s -mp-autocast='policy=%t.json' | FileCheck %s

// A policy of the module, or of a file: by Mantissa's names, the system's, or the kind of arithmetic.
// CHECK-LABEL: @loss
func.func @loss(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<f32> {
  // CHECK: %[[LOW:.*]] = mp.cast %arg0 : tensor<4x8xf32> to tensor<4x8xf16>
  // CHECK: %[[EXP:.*]] = mp.exp %[[LOW]] : tensor<4x8xf16>
  %e = mp.exp %x : tensor<4x8xf32>
  // CHECK: %[[WIDE:.*]] = mp.cast %[[EXP]] : tensor<4x8xf16> to tensor<4x8xf32>
  // CHECK: mp.linear %[[WIDE]], %arg1 : tensor<4x8xf32>, tensor<8x8xf32>
  %y = mp.linear %e, %w : tensor<4x8xf32>, tensor<8x8xf32>
  // Ops that it does not list are as in the policy that it extends.
  // CHECK: mp.sum %{{.*}} : tensor<4x8xf32>
  %l = mp.sum %y dims[0, 1] : tensor<4x8xf32>
  return %l : tensor<f32>
}

mp.policy @mine extends "torch" {allow = ["mp.exp"], deny = ["linear"]}
mp.train @step of @loss autocast(<dtype = f16, policy = "@mine">) {
  mp.minimize result(0) {optimizer = #mp.sgd}
}
