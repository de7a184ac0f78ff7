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
