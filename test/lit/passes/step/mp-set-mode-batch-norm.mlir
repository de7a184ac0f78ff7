// RUN: mp-opt %s -split-input-file -mp-set-mode=mode=eval -mp-set-mode=mode=eval | FileCheck %s
// RUN: mp-opt %s -split-input-file -mp-set-mode -mp-set-mode | FileCheck %s --check-prefix=TRAIN
// RUN: not mp-opt %s -split-input-file -mp-set-mode=mode=eval -mp-set-mode 2>&1 | FileCheck %s --check-prefix=BACK

// In evaluation the running statistics normalize, and are not written.
// CHECK-LABEL: func.func @norm
// CHECK-SAME: mp.mode = "eval"
// CHECK: %[[M:.*]] = mp.read @mean
// CHECK-NEXT: %[[V:.*]] = mp.read @var
// CHECK-NEXT: %[[Y:.*]] = mp.batch_norm_inference %{{.*}}, %[[M]], %[[V]] weight(%{{.*}} : tensor<6xf32>) {eps = 1.000000e-03 : f64} : tensor<?x6xf16>, tensor<6xf32>, tensor<6xf32>
// CHECK-NEXT: return %[[Y]]
// TRAIN-LABEL: func.func @norm
// TRAIN: mp.batch_norm
// TRAIN: mp.write @mean
// TRAIN: mp.write @var
// BACK: error: 'func.func' op evaluates, and what that replaced does not come back: take the function as it was
mp.variable buffer @mean : tensor<6xf32> = #mp.init<zeros>
mp.variable buffer @var : tensor<6xf32> = #mp.init<constant, value = 1.0>
func.func @norm(%x: tensor<?x6xf16>, %w: tensor<6xf32>) -> tensor<?x6xf16> {
  %m = mp.read @mean : tensor<6xf32>
  %v = mp.read @var : tensor<6xf32>
  %y:5 = mp.batch_norm %x, %m, %v weight(%w : tensor<6xf32>) {eps = 1.0e-3} : tensor<?x6xf16>, tensor<6xf32>, tensor<6xf32>
  mp.write @mean, %y#3 : tensor<6xf32>
  mp.write @var, %y#4 : tensor<6xf32>
  return %y#0 : tensor<?x6xf16>
}

// -----

// Other results are computed from the running statistics.
// CHECK-LABEL: func.func @statistics
// CHECK-SAME: %[[M:[a-z0-9]*]]: tensor<6xf32>, %[[V:[a-z0-9]*]]: tensor<6xf32>)
// CHECK: %[[SAFE:.*]] = mp.add %[[V]], %{{.*}} : tensor<6xf32>, tensor<f32>
// CHECK: %[[DEVIATION:.*]] = mp.sqrt %[[SAFE]]
// CHECK: %[[RSTD:.*]] = mp.div %{{.*}}, %[[DEVIATION]] : tensor<f32>, tensor<6xf32>
// CHECK: return %[[M]], %[[RSTD]], %[[M]], %[[V]]
// TRAIN-LABEL: func.func @statistics
func.func @statistics(%x: tensor<2x6xf32>, %m: tensor<6xf32>, %v: tensor<6xf32>)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %y:5 = mp.batch_norm %x, %m, %v : tensor<2x6xf32>, tensor<6xf32>, tensor<6xf32>
  return %y#1, %y#2, %y#3, %y#4 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// -----

// Evaluation finds the channels where training does.
// CHECK-LABEL: func.func @channels_last
// CHECK: mp.batch_norm_inference %{{.*}} channel_dim(3) : tensor<?x4x4x6xf16>
// TRAIN-LABEL: func.func @channels_last
// TRAIN: mp.batch_norm %{{.*}} channel_dim(3) : tensor<?x4x4x6xf16>
func.func @channels_last(%x: tensor<?x4x4x6xf16>, %m: tensor<6xf32>, %v: tensor<6xf32>) -> tensor<?x4x4x6xf16> {
  %y:5 = mp.batch_norm %x, %m, %v channel_dim(3) : tensor<?x4x4x6xf16>, tensor<6xf32>, tensor<6xf32>
  return %y#0 : tensor<?x4x4x6xf16>
}
