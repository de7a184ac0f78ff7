// RUN: mp-opt %s -mp-autodiff -mp-accumulate="accumulate=6 rows=4 ranks=2" -mp-data-parallel="ranks=2 rows=4" | FileCheck %s
// RUN: not mp-opt %s -mp-autodiff -mp-accumulate="accumulate=5 ranks=2" 2>&1 | FileCheck %s --check-prefix=UNEQUAL

mp.variable @w : tensor<4xf32> = #mp.init<ones>
mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>
mp.variable buffer @count : tensor<i64> = #mp.init<zeros>

func.func @loss(%x: tensor<4xf32>) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<4xf32>
  %y = mp.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  %l = mp.sum %y dims[0] : tensor<4xf32>
  mp.write @mean, %l : tensor<f32>
  %n = mp.read @count : tensor<i64>
  %one = mp.constant dense<1> : tensor<i64>
  %m = mp.add %n, %one : tensor<i64>, tensor<i64>
  mp.write @count, %m : tensor<i64>
  return %l : tensor<f32>
}

// A rank takes three of the six micro-batches, without any exchange.
// CHECK-LABEL: func.func @step.accumulate(
// CHECK-SAME: mp.share = 3
// CHECK-NOT: mp.all_reduce
// CHECK: return

// What they gathered is exchanged once: sums, the mean of statistics, and what was counted.
// CHECK-LABEL: func.func @step()
// CHECK-SAME: mp.ranks = 2
// CHECK-DAG: mp.all_reduce sum %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>
// CHECK-DAG: mp.all_reduce sum %{{.*}} : tensor<i64>
// CHECK: return

// UNEQUAL: error: 'mp.train' op takes 5 micro-batches in a step, which 2 ranks cannot share equally
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
