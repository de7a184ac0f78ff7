// RUN: mp-opt %s -split-input-file -mp-autodiff -mp-optimizer=total-steps=100 | FileCheck %s
// RUN: mp-opt %s -split-input-file -mp-autodiff -mp-optimizer=total-steps=100 -mp-optimizer | FileCheck %s
// RUN: mp-opt %s -split-input-file -mp-autodiff -mp-optimizer=total-steps=100 | FileCheck %s --check-prefix=LENGTH

// Plain SGD has no slots. Counters of applied steps and of step attempts are always written.
// CHECK: mp.variable slot @step.applied : tensor<i64> = #mp.init<zeros> as <count>
// CHECK-NEXT: mp.variable attempt @step.attempted : tensor<i64> = #mp.init<zeros> as <count>
// CHECK-NOT: mp.variable
mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<4xf32>) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<4xf32>
  %0 = mp.mul %w, %x : tensor<4xf32>, tensor<4xf32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}
// CHECK: func.func @step(
// CHECK-SAME: -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "lr"}, tensor<f32> {mp.name = "grad_norm"})
// CHECK: mp.seed
// CHECK: %[[G:.*]] = mp.mul
// CHECK: %[[APPLIED:.*]] = mp.read @step.applied
// CHECK-NEXT: %[[STEP:.*]] = mp.add %[[APPLIED]], %{{.*}} : tensor<i64>, tensor<i64>
// CHECK-NEXT: mp.write @step.applied, %[[STEP]]
// CHECK: mp.write @step.attempted
// CHECK: %[[LR:.*]] = mp.constant dense<1.000000e-01> : tensor<f32>
// CHECK: %[[SQUARE:.*]] = mp.mul %[[G]], %[[G]]
// CHECK: %[[SUM:.*]] = mp.sum %[[SQUARE]] dims[0] : tensor<4xf32>
// CHECK: %[[P:.*]] = mp.read @w
// CHECK: %[[P1:.*]] = mp.sgd<lr = 1.000000e-01, weight_decay = 1.000000e-02> %[[P]], %[[G]], %[[LR]], %[[STEP]]
// CHECK: mp.write @w, %[[P1]] : tensor<4xf32>
// CHECK: %[[NORM:.*]] = mp.sqrt %[[SUM]]
// CHECK: return %{{.*}}, %[[LR]], %[[NORM]]
// CHECK-NOT: mp.train
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1, weight_decay = 0.01>} }

// -----

// CHECK: mp.variable slot @w.momentum_buffer : tensor<4xf32> = #mp.init<zeros> as <slot of @w named "momentum_buffer">
mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4xf32>
  %0 = mp.mul %w, %x : tensor<4xf32>, tensor<4xf32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}
// CHECK: %[[M:.*]] = mp.read @w.momentum_buffer
// CHECK: %[[P1:.*]], %[[M1:.*]] = mp.sgd<momentum = 9.000000e-01, nesterov = true> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[M]]
// CHECK: mp.write @w, %[[P1]]
// CHECK: mp.write @w.momentum_buffer, %[[M1]]
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd<momentum = 0.9, nesterov = true>} }

// -----

// The learning rate of a schedule follows the steps applied before this one, and the
// bias corrections count this one.
// CHECK-DAG: mp.variable slot @w.exp_avg : tensor<4xf32> = #mp.init<zeros>
// CHECK-DAG: mp.variable slot @w.exp_avg_sq : tensor<4xf32> = #mp.init<zeros>
mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4xf32>
  %0 = mp.mul %w, %x : tensor<4xf32>, tensor<4xf32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}
// CHECK: func.func @step
// CHECK: %[[APPLIED:.*]] = mp.read @step.applied
// CHECK: %[[STEP:.*]] = mp.add %[[APPLIED]]
// CHECK: %[[BASE:.*]] = mp.constant dense<1.000000e-03> : tensor<f32>
// CHECK: %[[FACTOR:.*]] = mp.schedule %[[APPLIED]] by #mp.linear<to = 5.000000e-01, steps = 10>{{$}}
// CHECK: %[[LR:.*]] = mp.mul %[[BASE]], %[[FACTOR]] : tensor<f32>, tensor<f32>
// CHECK: %[[C1:.*]] = mp.bias_correction %[[STEP]] {beta = 9.000000e-01 : f64}
// CHECK: %[[C2:.*]] = mp.bias_correction %[[STEP]] {beta = 0.99{{[0-9]*}} : f64}
// CHECK: mp.adamw %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[LR]], %[[C1]], %[[C2]] :
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.adamw, schedule = #mp.linear<from = 1, to = 0.5, steps = 10>}
}

// -----

// Groups: no decay on biases. `lr` is the first group's.
mp.variable @fc.weight : tensor<4xf32> = #mp.init<zeros>
mp.variable @fc.bias : tensor<4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
  %w = mp.read @fc.weight : tensor<4xf32>
  %b = mp.read @fc.bias : tensor<4xf32>
  %0 = mp.mul %w, %x : tensor<4xf32>, tensor<4xf32>
  %1 = mp.add %0, %b : tensor<4xf32>, tensor<4xf32>
  %2 = mp.sum %1 dims[0] : tensor<4xf32>
  return %2 : tensor<f32>
}
// CHECK: func.func @step
// CHECK: %[[LR:.*]] = mp.constant dense<5.000000e-01> : tensor<f32>
// CHECK: mp.sgd<lr = 5.000000e-01, weight_decay = 1.000000e-02> %{{.*}}, %{{.*}}, %[[LR]], %{{.*}}
// CHECK: mp.write @fc.weight
// CHECK: %[[OTHER:.*]] = mp.constant dense<2.500000e-01> : tensor<f32>
// CHECK: mp.sgd<lr = 2.500000e-01> %{{.*}}, %{{.*}}, %[[OTHER]], %{{[^ ]*}} :
// CHECK: mp.write @fc.bias
// CHECK: return %{{.*}}, %[[LR]], %{{.*}}
mp.train @step of @loss {
  mp.minimize result(0) {params = ["*", "!*.bias"], optimizer = #mp.sgd<lr = 0.5, weight_decay = 0.01>}
  mp.minimize result(0) {params = ["*.bias"], optimizer = #mp.sgd<lr = 0.25>}
}

// -----

// A maximising optimizer gets the negated gradient. The average follows the new parameter.
// CHECK-DAG: mp.variable slot @w.ema : tensor<4xf32> = #mp.init<zeros> as <average of @w>
mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4xf32>
  %0 = mp.mul %w, %x : tensor<4xf32>, tensor<4xf32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}
// CHECK: func.func @step
// CHECK: %[[STEP:.*]] = mp.add %{{.*}} : tensor<i64>, tensor<i64>
// CHECK: %[[DOWN:.*]] = mp.neg
// CHECK: %[[NEW:.*]], %{{.*}} = mp.lion<maximize = true> %{{.*}}, %[[DOWN]]
// CHECK: mp.write @w, %[[NEW]]
// CHECK: %[[OLD:.*]] = mp.read @w.ema
// CHECK: %[[EMA:.*]] = mp.ema %[[OLD]], %[[NEW]], %[[STEP]] {decay = 9.000000e-01 : f64}
// CHECK: mp.write @w.ema, %[[EMA]]
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.lion<maximize = true>, ema = 0.9, schedule = #mp.constant}
}

// -----

// The run's length is passed to the schedule after a warm-up, less the warm-up.
mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4xf32>
  %0 = mp.mul %w, %x : tensor<4xf32>, tensor<4xf32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}
// LENGTH: mp.schedule %{{.*}} by #mp.warmup<steps = 20, then = #mp.cosine<steps = 80>>{{$}}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd, schedule = #mp.warmup<steps = 20, then = #mp.cosine>}
}
