// RUN: mp-opt %s --mp-autodiff --mp-recompute=recompute=4KiB | FileCheck %s
// RUN: mp-opt %s --mp-autodiff --mp-recompute=recompute=all | FileCheck %s --check-prefix=ALL
// RUN: not mp-opt %s --mp-autodiff --mp-recompute=recompute=1KiB 2>&1 | FileCheck %s --check-prefix=LITTLE

// 20 rounds of 128 bytes are kept, of two values. Backward computes the one again that is not carried.
// ALL: mp.loop {{.*}} rounds(20) -> tensor<4x8xf32>, tensor<20x4x8xf32>, tensor<20x4x8xf32>
// LITTLE: cannot keep 1024 bytes or less for backward: it keeps 5120, and computing again reaches 2560
mp.variable @w : tensor<4x8xf32> = #mp.init<zeros>

// CHECK: func.func private @[[$BACKWARD:body.loop[0-9]+]](%[[W:[^:]*]]: tensor<4x8xf32>, %{{[^:]*}}: tensor<4x8xf32>, %{{[^:]*}}: tensor<4x8xf32>, %[[H:[^:]*]]: tensor<4x8xf32>)
// CHECK: %[[G:.*]] = mp.mul %[[H]], %[[W]]
// CHECK: %[[S:.*]] = mp.sigmoid %[[G]]
// CHECK: mp.sin %[[S]]

func.func private @body(%w: tensor<4x8xf32>, %h: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mp.loop_body} {
  %g = mp.mul %h, %w : tensor<4x8xf32>, tensor<4x8xf32>
  %s = mp.sigmoid %g : tensor<4x8xf32>
  %t = mp.cos %s : tensor<4x8xf32>
  return %t : tensor<4x8xf32>
}

func.func @loss(%h: tensor<4x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x8xf32>
  %r = mp.loop @body invariant(%w : tensor<4x8xf32>) carried(%h : tensor<4x8xf32>) rounds(20) -> tensor<4x8xf32>
  %l = mp.sum %r dims[0, 1] : tensor<4x8xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 0.1>}
}

// CHECK-LABEL: func.func @step
// CHECK: %[[F:.*]]:2 = mp.loop {{.*}} -> tensor<4x8xf32>, tensor<20x4x8xf32>
// CHECK: mp.loop @[[$BACKWARD]] invariant(%{{.*}} : tensor<4x8xf32>) carried({{.*}}) over(%[[F]]#1 : tensor<20x4x8xf32>)
