// RUN: mp-opt %s -mp-train-pipeline=batch=4 | FileCheck %s
// RUN: mp-opt %s -mp-evaluate-pipeline=batch=1 | FileCheck %s --check-prefix=EVAL
// RUN: not mp-opt %s -mp-train-pipeline=batch=1 2>&1 | FileCheck %s --check-prefix=ONE

// Running statistics are written under the flag of parameters, and only in training; their kernel runs under it too.
// CHECK-LABEL: func.func @step
// CHECK: mp.kernel({{.*}}) if %[[APPLIED:[0-9#]+]] attributes {ops = "{{[a-z_ ]*}}mul mul add"} -> (tensor<6xf32>, tensor<6xf32>)
// CHECK-DAG: mp.write @w, %{{.*}} if %[[APPLIED]] : tensor<6xf32>
// CHECK-DAG: mp.write @mean, %{{.*}} if %[[APPLIED]] : tensor<6xf32>
// CHECK-DAG: mp.write @var, %{{.*}} if %[[APPLIED]] : tensor<6xf32>

// EVAL-LABEL: func.func @loss
// EVAL-NOT: mp.write

// ONE: error: needs more than one element a channel to train, got 1 of 'tensor<1x6xf32>'
mp.variable buffer @mean : tensor<6xf32> = #mp.init<zeros>
mp.variable buffer @var : tensor<6xf32> = #mp.init<constant, value = 1.0>
mp.variable @w : tensor<6xf32> = #mp.init<constant, value = 1.0>
func.func @loss(%x: tensor<?x6xf32>, %label: tensor<?xui8>) -> tensor<f32> {
  %m = mp.read @mean : tensor<6xf32>
  %v = mp.read @var : tensor<6xf32>
  %w = mp.read @w : tensor<6xf32>
  %y:5 = mp.batch_norm %x, %m, %v weight(%w : tensor<6xf32>) : tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>
  mp.write @mean, %y#3 : tensor<6xf32>
  mp.write @var, %y#4 : tensor<6xf32>
  %l = mp.cross_entropy %y#0, %label : tensor<?x6xf32>, tensor<?xui8>
  return %l : tensor<f32>
}
mp.scaler @scaler {preset = "torch"}
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-3>}
}
