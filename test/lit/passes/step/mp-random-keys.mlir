// RUN: mp-opt %s -mp-random-keys -mp-random-keys | FileCheck %s

mp.variable attempt @step.attempted : tensor<i64> = #mp.init<zeros>
// CHECK: mp.variable attempt @random.seed : tensor<i64> = #mp.init<seed>
// CHECK-NOT: @random.seed :

// A step draws by its count of attempts.
// CHECK-LABEL: func.func @step(
func.func @step(%x: tensor<4xf32>, %k: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[SEED:.*]] = mp.read @random.seed : tensor<i64>
  // CHECK-DAG: %[[TRIES:.*]] = mp.read @step.attempted : tensor<i64>
  // CHECK: mp.dropout %arg0 stream(0) key(%[[SEED]], %[[TRIES]]) :
  %0 = mp.dropout %x stream(0) : tensor<4xf32>
  // CHECK: mp.dropout_backward %{{.*}} stream(0) key(%[[SEED]], %[[TRIES]]) :
  %1 = mp.dropout_backward %0 stream(0) : tensor<4xf32>
  // An existing key stays.
  // CHECK: mp.uniform stream(1) key(%arg1, %arg1) :
  %2 = mp.uniform stream(1) key(%k, %k) : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Any other function draws without a count.
// CHECK-LABEL: @function
func.func @function() -> tensor<4xf32> {
  // CHECK-DAG: %[[NONE:.*]] = mp.constant dense<0> : tensor<i64>
  // CHECK-DAG: %[[SEED:.*]] = mp.read @random.seed : tensor<i64>
  // CHECK: mp.normal stream(2) key(%[[SEED]], %[[NONE]]) :
  %0 = mp.normal stream(2) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @nothing_random
// CHECK-NOT: mp.read
func.func @nothing_random() {
  return
}

// The body of loops is given a key, to which its time step is added.
// CHECK-LABEL: @loops
func.func @loops(%x: tensor<4xf32>, %steps: tensor<3xi64>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[SEED:.*]] = mp.read @random.seed : tensor<i64>
  // CHECK: mp.loop @body invariant(%arg0, %[[SEED]], %{{.*}}, %{{.*}} : {{.*}}) carried(%arg0 : tensor<4xf32>) over(%arg1
  %a = mp.loop @body invariant(%x : tensor<4xf32>) carried(%x : tensor<4xf32>) over(%steps : tensor<3xi64>) rounds(3)
      -> tensor<4xf32>
  // CHECK: mp.loop @body invariant(%{{.*}}, %[[SEED]], %{{.*}}, %{{.*}} : {{.*}}) carried(
  %b = mp.loop @body invariant(%a : tensor<4xf32>) carried(%a : tensor<4xf32>) over(%steps : tensor<3xi64>) rounds(3)
      -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
// CHECK: func.func private @body(%arg0: tensor<4xf32>, %[[S:.*]]: tensor<i64>, %[[A:.*]]: tensor<i64>, %[[M:.*]]: tensor<i64>, %arg4: tensor<4xf32>, %[[T:.*]]: tensor<i64>)
// CHECK-NEXT: mp.dropout %arg4 stream(3) key(%[[S]], %[[A]], %[[M]], %[[T]])
func.func private @body(%w: tensor<4xf32>, %x: tensor<4xf32>, %step: tensor<i64>) -> tensor<4xf32> attributes {mp.loop_body} {
  %d = mp.dropout %x stream(3) key(%step) : tensor<4xf32>
  %y = mp.mul %d, %w : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// A loop in a loop is given the key by way of the one around it.
// CHECK-LABEL: @nested
func.func @nested(%x: tensor<4xf32>, %steps: tensor<3x3xi64>) -> tensor<4xf32> {
  // CHECK: mp.loop @outer invariant(%{{.*}}, %{{.*}}, %{{.*}} : tensor<i64>, tensor<i64>, tensor<i64>) carried(
  %a = mp.loop @outer carried(%x : tensor<4xf32>) over(%steps : tensor<3x3xi64>) rounds(3) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
// CHECK: func.func private @outer(%[[S:.*]]: tensor<i64>, %[[A:.*]]: tensor<i64>, %[[M:.*]]: tensor<i64>, %{{.*}}: tensor<4xf32>
// CHECK: mp.loop @inner invariant(%[[S]], %[[A]], %[[M]] :
func.func private @outer(%x: tensor<4xf32>, %steps: tensor<3xi64>) -> tensor<4xf32> attributes {mp.loop_body} {
  %a = mp.loop @inner carried(%x : tensor<4xf32>) over(%steps : tensor<3xi64>) rounds(3) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
// CHECK: func.func private @inner(%[[S:.*]]: tensor<i64>, %[[A:.*]]: tensor<i64>, %[[M:.*]]: tensor<i64>, %[[X:.*]]: tensor<4xf32>, %[[T:.*]]: tensor<i64>)
// CHECK: mp.dropout %[[X]] stream(4) key(%[[S]], %[[A]], %[[M]], %[[T]])
func.func private @inner(%x: tensor<4xf32>, %step: tensor<i64>) -> tensor<4xf32> attributes {mp.loop_body} {
  %d = mp.dropout %x stream(4) key(%step) : tensor<4xf32>
  return %d : tensor<4xf32>
}
