// RUN: mp-opt %s -split-input-file -verify-diagnostics -mp-autocast='dtype=f16 policy=tf-fp16' | FileCheck %s -enable-var-scope

// An op between two products would run low; in a region that is off it does not,
// and nothing propagates through it.
// CHECK-LABEL: @off
func.func @off(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: mp.linear %{{.*}} : tensor<4x8xf16>, tensor<8x8xf16>
  %h = mp.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  // CHECK: mp.tanh %{{.*}} : tensor<4x8xf16>
  %t = mp.tanh %h : tensor<4x8xf32>
  %a = mp.autocast enabled(false) {
    // CHECK: mp.tanh %{{.*}} : tensor<4x8xf32>
    %1 = mp.tanh %t : tensor<4x8xf32>
    // CHECK: mp.linear %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
    %2 = mp.linear %1, %w : tensor<4x8xf32>, tensor<8x8xf32>
    mp.yield %2 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  // CHECK: mp.linear %{{.*}} : tensor<4x8xf16>, tensor<8x8xf16>
  %y = mp.linear %a, %w : tensor<4x8xf32>, tensor<8x8xf32>
  // CHECK: mp.linear %{{.*}} : tensor<4x8xf16>, tensor<8x8xf16>
  %z = mp.linear %t, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %s = mp.add %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

func.func @types(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = mp.autocast dtype(bf16) policy("torch") {
    // expected-error@+1 {{is in a region of 'bf16', and others are in 'f16': a graph is coloured with one type; mode=eager takes several}}
    %1 = mp.tanh %x : tensor<4x8xf32>
    mp.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
