// RUN: mp-opt %s --mp-autodiff --mp-recompute=recompute=1KiB | FileCheck %s
// RUN: mp-opt %s --mp-autodiff --mp-recompute=recompute=all | FileCheck %s --check-prefix=ALL
// RUN: not mp-opt %s --mp-autodiff --mp-recompute=recompute=1000 2>&1 | FileCheck %s --check-prefix=LITTLE

// A round keeps two values of 128 bytes. In two segments, those of 3 rounds are there at a time, besides what the second
// segment begins with and what the first one leaves when it is run again.
// ALL: mp.loop {{.*}} rounds(5) -> tensor<4x8xf32>, tensor<5x4x8xf32>, tensor<5x4x8xf32>
// LITTLE: cannot keep 1000 bytes or less for backward: it keeps 1280, and computing again reaches 1024
mp.variable @w : tensor<4x8xf32> = #mp.init<zeros>

// CHECK: func.func private @[[$AGAIN:body.loop3]](
// CHECK: %[[S:.*]] = mp.sigmoid
// CHECK: return %{{.*}}, %[[S]], %arg1
// CHECK: func.func private @[[$FORWARD:body.loop0]]({{.*}}) -> tensor<4x8xf32>
func.func private @body(%w: tensor<4x8xf32>, %h: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mp.loop_body} {
  %g = mp.mul %h, %w : tensor<4x8xf32>, tensor<4x8xf32>
  %s = mp.sigmoid %g : tensor<4x8xf32>
  %t = mp.cos %s : tensor<4x8xf32>
  return %t : tensor<4x8xf32>
}

func.func @loss(%h: tensor<4x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x8xf32>
  %r = mp.loop @body invariant(%w : tensor<4x8xf32>) carried(%h : tensor<4x8xf32>) rounds(5) -> tensor<4x8xf32>
  %l = mp.sum %r dims[0, 1] : tensor<4x8xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 0.1>}
}

// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[H:.*]]: tensor<4x8xf32>)
// CHECK: %[[W:.*]] = mp.read @w
// CHECK: %[[MIDDLE:.*]] = mp.loop @[[$FORWARD]] {{.*}} carried(%[[H]] : {{.*}}) rounds(2)
// CHECK: mp.loop @[[$FORWARD]] {{.*}} carried(%[[MIDDLE]] : {{.*}}) rounds(3)
// CHECK: %[[G:.*]] = mp.broadcast
// CHECK: %[[START:.*]] = mp.recompute_barrier %[[MIDDLE]] since %[[G]]
// CHECK: %[[LAST:.*]]:3 = mp.loop @[[$AGAIN]] {{.*}} carried(%[[START]] : {{.*}}) rounds(3)
// CHECK: %[[B:.*]]:2 = mp.loop @[[BACKWARD:.*]] invariant({{.*}} over(%[[LAST]]#1, %[[LAST]]#2 : {{.*}}) rounds(3) reverse
// CHECK: %[[BEGIN:.*]] = mp.recompute_barrier %[[H]] since %[[B]]#0
// CHECK: %[[FIRST:.*]]:3 = mp.loop @[[$AGAIN]] {{.*}} carried(%[[BEGIN]] : {{.*}}) rounds(2)
// CHECK: mp.loop @[[BACKWARD]] {{.*}} carried(%[[B]]#0, %[[B]]#1 : {{.*}}) over(%[[FIRST]]#1, %[[FIRST]]#2 : {{.*}}) rounds(2) reverse
