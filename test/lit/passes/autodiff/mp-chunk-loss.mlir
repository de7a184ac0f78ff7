// RUN: mp-opt %s -mp-set-mode=mode=train -mp-specialize=batch=5 -mp-chunk-loss="loss-chunks=2 returns-numbers=true" -canonicalize -cse | FileCheck %s
// RUN: mp-opt %s -mp-set-mode=mode=train -mp-specialize=batch=5 -mp-chunk-loss="loss-chunks=auto returns-numbers=true" | FileCheck %s --check-prefix=FEW
// RUN: mp-opt %s -mp-set-mode=mode=train -mp-specialize=batch=5 -mp-chunk-loss="loss-chunks=2 returns-numbers=true" -mp-autodiff -mp-order-chunks -canonicalize -cse | FileCheck %s --check-prefix=ORDER
// RUN: mp-opt %s -mp-train-pipeline="batch=5 loss-chunks=2 returns-numbers=true precision=bf16 total-steps=3" | FileCheck %s --check-prefix=STEP

mp.variable @w : tensor<9x4xf32> = #mp.init<kaiming_uniform>
mp.variable @b : tensor<9xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x4xf32> {mp.name = "x"}, %y: tensor<?xi32> {mp.name = "y"})
    -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}, tensor<?x9xf32> {mp.name = "logits"}) {
  %w = mp.read @w : tensor<9x4xf32>
  %b = mp.read @b : tensor<9xf32>
  %z = mp.linear %x, %w, %b : tensor<?x4xf32>, tensor<9x4xf32>, tensor<9xf32>
  %l = mp.cross_entropy %z, %y {label_smoothing = 1.0e-1} : tensor<?x9xf32>, tensor<?xi32>
  %t = mp.iota dim(0) : tensor<3xi32>
  %a = mp.accuracy %z, %y {top_k = 2} : tensor<?x9xf32>, tensor<?xi32>
  return %l, %a, %z : tensor<f32>, tensor<f32>, tensor<?x9xf32>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-1>}
}

// The last part is smaller. Nothing but the result, which training drops, has all logits.
// CHECK-LABEL: func.func @loss(
// CHECK: %[[WHOLE:.*]] = mp.linear %{{.*}} : tensor<5x4xf32>
// CHECK: %[[X0:.*]] = mp.slice %arg0 offsets[0, 0] sizes[3, -1] {mp.chunk = 0 : i64}
// CHECK: %[[Z0:.*]] = mp.linear %[[X0]], %{{.*}}, %{{.*}} {mp.chunk = 0 : i64} : tensor<3x4xf32>
// CHECK: %[[Y0:.*]] = mp.slice %arg1 offsets[0] sizes[3] {mp.chunk = 0 : i64}
// CHECK: %[[L0:.*]] = mp.cross_entropy %[[Z0]], %[[Y0]] reduction(none) {label_smoothing = 1.000000e-01 : f64, mp.chunk = 0 : i64}
// CHECK: %[[A0:.*]] = mp.accuracy %[[Z0]], %[[Y0]] reduction(sum) {mp.chunk = 0 : i64, top_k = 2 : i64}
// CHECK: %[[Z1:.*]] = mp.linear %{{.*}} {mp.chunk = 1 : i64} : tensor<2x4xf32>
// CHECK: %[[L1:.*]] = mp.cross_entropy %[[Z1]]
// CHECK: %[[A1:.*]] = mp.accuracy %[[Z1]]
// CHECK: %[[ALL:.*]] = mp.concat %[[L0]], %[[L1]] dim(0)
// CHECK: %[[COUNTS:.*]] = mp.compare ne %{{.*}} : tensor<5x1xi32>, tensor<i32>
// CHECK: %[[ROWS:.*]] = mp.sum
// CHECK: %[[TOTAL:.*]] = mp.sum
// CHECK: %[[LOSS:.*]] = mp.div %[[TOTAL]], %[[ROWS]]
// CHECK: %[[RIGHT:.*]] = mp.add %[[A0]], %[[A1]]
// CHECK: %[[SHARE:.*]] = mp.div %[[RIGHT]]
// CHECK: return %[[LOSS]], %[[SHARE]], %[[WHOLE]]

// Few logits stay whole.
// FEW-LABEL: func.func @loss(
// FEW-NOT: mp.chunk
// FEW: mp.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 1.000000e-01 : f64} : tensor<5x9xf32>

// A part's backward follows its forward, and the losses come last. Its products are marked.
// ORDER-LABEL: func.func @step(
// ORDER: mp.seed
// ORDER: %[[Z1:.*]] = mp.linear %{{.*}} {mp.chunk = 1 : i64}
// ORDER: %[[L1:.*]] = mp.cross_entropy %[[Z1]]
// ORDER: %[[G1:.*]] = mp.cross_entropy_backward %{{.*}}, %[[Z1]]
// ORDER: %[[W1:.*]] = mp.matmul %[[G1]], %{{.*}} transpose_a {mp.chunk = 1 : i64}
// ORDER: %[[Z0:.*]] = mp.linear %{{.*}} {mp.chunk = 0 : i64}
// ORDER: %[[L0:.*]] = mp.cross_entropy %[[Z0]]
// ORDER: %[[G0:.*]] = mp.cross_entropy_backward %{{.*}}, %[[Z0]]
// ORDER: %[[W0:.*]] = mp.matmul %[[G0]], %{{.*}} transpose_a {mp.chunk = 0 : i64}
// ORDER: mp.add %[[W1]], %[[W0]]
// ORDER: mp.concat %[[L0]], %[[L1]]

// In 16 bits the gradients of the parts are f32, are added up, and are rounded once.
// STEP-LABEL: func.func @step(
// STEP: ops = "matmul"} -> tensor<9x4xf32>
// STEP: ops = "matmul"} -> tensor<9x4xf32>
// STEP: ops = "add cast cast mul sum sgd cast"}
