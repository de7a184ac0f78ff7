// RUN: mp-opt %s -mp-train-pipeline='batch=2 total-steps=1 precision=bf16' | FileCheck %s

// A step has no tensor of the scores of 37 queries and 41 keys: its mask is data.
// CHECK-LABEL: func.func @step(
// CHECK-NOT: 37x41
// CHECK: mp.scaled_dot_product_attention %{{.*}} mask(%{{.*}} : tensor<2x1x1x41xf32>) : tensor<2x37x4x8xbf16>
// CHECK-NOT: 37x41
// CHECK: mp.scaled_dot_product_attention_backward %{{.*}} : tensor<2x37x4x8xbf16>
// CHECK-NOT: 37x41
// CHECK-LABEL: func.func @derive(
module {
  mp.variable @w : tensor<8x8xf32> = #mp.init<kaiming_uniform>
  func.func @loss(%q: tensor<?x37x4x8xf32>, %k: tensor<?x41x4x8xf32>, %m: tensor<?x1x1x41xf32>) -> (tensor<f32> {mp.name = "loss"}) {
    %w = mp.read @w : tensor<8x8xf32>
    %p = mp.linear %k, %w : tensor<?x41x4x8xf32>, tensor<8x8xf32>
    %y, %lse = mp.scaled_dot_product_attention %q, %p, %p mask(%m : tensor<?x1x1x41xf32>) : tensor<?x37x4x8xf32>, tensor<?x41x4x8xf32>, tensor<?x41x4x8xf32>
    %l = mp.mean %y dims[0, 1, 2, 3] : tensor<?x37x4x8xf32>
    return %l : tensor<f32>
  }
  mp.train @step of @loss autocast(<dtype = bf16, policy = "torch">) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0e-3>}
  }
}
