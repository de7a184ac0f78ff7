// RUN: mp-opt %s -mp-train-pipeline | FileCheck %s
// RUN: mp-opt %s -mp-evaluate-pipeline | FileCheck %s --check-prefix=EVAL

// Forward and backward draw from one stream, the rounding of the parameter from another,
// all of them by the seed and the count of attempts.
// CHECK: mp.variable attempt @random.seed : tensor<i64> = #mp.init<seed>
// CHECK-LABEL: func.func @step(
// CHECK-DAG: %[[SEED:.*]] = mp.read @random.seed
// CHECK-DAG: %[[TRIES:.*]] = mp.read @step.attempted
// CHECK: mp.kernel({{.*}} = %[[SEED]] : tensor<i64>{{.*}} = %[[TRIES]] : tensor<i64>{{.*}}ops = "{{.*}}dropout mul {{.*}}dropout_backward {{.*}}stochastic_round"
// EVAL-NOT: random.seed
// EVAL-NOT: dropout
mp.variable @w : tensor<64xbf16> = #mp.init<ones>
func.func @loss(%x: tensor<64xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<64xbf16>
  %0 = mp.cast %w : tensor<64xbf16> to tensor<64xf32>
  %1 = mp.mul %0, %x : tensor<64xf32>, tensor<64xf32>
  %2 = mp.dropout %1 {p = 0.1} : tensor<64xf32>
  %3 = mp.mul %2, %2 : tensor<64xf32>, tensor<64xf32>
  %4 = mp.sum %3 dims[0] : tensor<64xf32>
  return %4 : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd, stochastic_rounding} }
