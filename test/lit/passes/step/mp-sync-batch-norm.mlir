// RUN: mp-opt %s -mp-set-mode=mode=train -mp-specialize=batch=4 -mp-sync-batch-norm | FileCheck %s
// RUN: mp-opt %s -mp-train-pipeline="batch=4 ranks=3 batch-norm=all precision=fp16 total-steps=9" | FileCheck %s --check-prefix=STEP

mp.variable @w : tensor<8x6xf32> = #mp.init<kaiming_uniform>
mp.variable @g : tensor<8xf32> = #mp.init<ones>
mp.variable buffer @m : tensor<8xf32> = #mp.init<zeros>
mp.variable buffer @v : tensor<8xf32> = #mp.init<ones>
func.func @loss(%x: tensor<?x6xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<8x6xf32>
  %g = mp.read @g : tensor<8xf32>
  %l = mp.linear %x, %w : tensor<?x6xf32>, tensor<8x6xf32>
  %m = mp.read @m : tensor<8xf32>
  %v = mp.read @v : tensor<8xf32>
  %h, %mean, %rstd, %nm, %nv = mp.batch_norm %l, %m, %v weight(%g : tensor<8xf32>) : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  mp.write @m, %nm : tensor<8xf32>
  mp.write @v, %nv : tensor<8xf32>
  %s = mp.mul %h, %h : tensor<?x8xf32>, tensor<?x8xf32>
  %y = mp.mean %s dims[0, 1] {mp.autocast = "f32"} : tensor<?x8xf32>
  return %y : tensor<f32>
}

// Rows and their sums travel together; a rank without rows gives zeros.
// CHECK-LABEL: func.func @loss(
// CHECK: %[[IDLE:.*]] = mp.read @step.idle
// CHECK: %[[SUM:.*]] = mp.sum %{{.*}} dims[0] keepdim
// CHECK: %[[GIVEN:.*]] = mp.select %[[IDLE]], %{{.*}}, %[[SUM]]
// CHECK: %[[ALL:.*]]:2 = mp.all_reduce sum %[[GIVEN]], %{{.*}} : tensor<1x8xf32>, tensor<f32>
// CHECK: %[[MEAN:.*]] = mp.div %[[ALL]]#0, %[[ALL]]#1
// CHECK-NOT: mp.batch_norm
// CHECK: mp.write @m

// Scaled gradients of statistics travel beside unscaled ones of weights, and the verifier tells them apart.
// STEP-LABEL: func.func @step(
// STEP: mp.all_reduce
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
