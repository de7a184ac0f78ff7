// RUN: mp-opt %s -split-input-file -mp-autodiff -mp-loss-scale -mp-clip-gradients | FileCheck %s
// RUN: mp-opt %s -split-input-file -mp-autodiff -mp-clip-gradients=clip-norm=0.25 | FileCheck %s --check-prefix=OPTION
// RUN: mp-opt %s -split-input-file -mp-autodiff -mp-clip-gradients=clip-value=inf -mp-master-weights -mp-optimizer | FileCheck %s --check-prefix=OFF

// All gradients together, in f32. The norm that is returned is that before clipping.
// OPTION: mp.clip_factor %{{.*}} {max_norm = 2.500000e-01 : f64}
// OFF-NOT: mp.clip_factor
mp.variable @v : tensor<4xf32> = #mp.init<zeros>
mp.variable @w : tensor<4xf16> = #mp.init<zeros>
func.func @loss() -> (tensor<f32> {mp.name = "loss"}) {
  %v = mp.read @v : tensor<4xf32>
  %w = mp.read @w : tensor<4xf16>
  %0 = mp.cast %w : tensor<4xf16> to tensor<4xf32>
  %1 = mp.mul %v, %0 : tensor<4xf32>, tensor<4xf32>
  %2 = mp.sum %1 dims[0] : tensor<4xf32>
  return %2 : tensor<f32>
}
// CHECK: func.func @step() -> (tensor<f32> {mp.name = "loss"}, tensor<4xf32> {mp.gradient = @v}, tensor<4xf32> {mp.gradient = @w}, tensor<f32> {mp.name = "scale"}, tensor<i1> {mp.name = "skipped"}, tensor<f32> {mp.name = "grad_norm"})
// CHECK: %[[V:.*]], %{{.*}} = mp.unscale_and_check
// CHECK: %[[W:.*]], %{{.*}} = mp.unscale_and_check
// CHECK: %[[VV:.*]] = mp.mul %[[V]], %[[V]]
// CHECK: %[[SV:.*]] = mp.sum %[[VV]] dims[0]
// CHECK: %[[WW:.*]] = mp.mul %[[W]], %[[W]]
// CHECK: %[[SW:.*]] = mp.sum %[[WW]] dims[0]
// CHECK: %[[TOTAL:.*]] = mp.add %[[SV]], %[[SW]]
// CHECK: %[[NORM:.*]] = mp.sqrt %[[TOTAL]]
// CHECK: %[[FACTOR:.*]] = mp.clip_factor %[[NORM]] {max_norm = 1.000000e+00 : f64}
// CHECK: %[[CV:.*]] = mp.mul %[[V]], %[[FACTOR]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[CW:.*]] = mp.mul %[[W]], %[[FACTOR]] : tensor<4xf32>, tensor<f32>
// CHECK: return %{{.*}}, %[[CV]], %[[CW]], %{{.*}}, %{{.*}}, %[[NORM]]
mp.scaler @scaler
mp.train @step of @loss scaler(@scaler) attributes {clip_norm = 1.0} {
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

// One group clips by its own norm, another by elements; the third group is not clipped.
// OPTION: mp.clip_factor %{{.*}} {max_norm = 2.500000e-01 : f64}
// OPTION-NOT: mp.clip_factor
// OFF-NOT: mp.clip_factor
mp.variable @u : tensor<4xf32> = #mp.init<zeros>
mp.variable @v : tensor<4xf32> = #mp.init<zeros>
mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %u = mp.read @u : tensor<4xf32>
  %v = mp.read @v : tensor<4xf32>
  %w = mp.read @w : tensor<f32>
  %0 = mp.mul %u, %v : tensor<4xf32>, tensor<4xf32>
  %1 = mp.mul %0, %w : tensor<4xf32>, tensor<f32>
  %2 = mp.sum %1 dims[0] : tensor<4xf32>
  return %2 : tensor<f32>
}
// CHECK: func.func @step
// CHECK: mp.seed
// CHECK: mp.mul %[[U:[0-9]+]], %[[U]] :
// CHECK-NEXT: %[[SU:.*]] = mp.sum %{{.*}} dims[0]
// CHECK: %[[SV:.*]] = mp.sum %{{.*}} dims[0]
// CHECK: %[[SW:.*]] = mp.sum %{{.*}} dims[]
// CHECK: %[[ALL:.*]] = mp.sqrt
// CHECK: %[[NORM:.*]] = mp.sqrt %[[SU]]
// CHECK: %[[FACTOR:.*]] = mp.clip_factor %[[NORM]] {max_norm = 2.000000e+00 : f64}
// CHECK: %[[CU:.*]] = mp.mul %{{.*}}, %[[FACTOR]]
// CHECK: %[[LOW:.*]] = mp.constant dense<-5.000000e-01> : tensor<f32>
// CHECK: %[[LEAST:.*]] = mp.maximum %{{.*}}, %[[LOW]] : tensor<4xf32>, tensor<f32>
// CHECK: %[[HIGH:.*]] = mp.constant dense<5.000000e-01> : tensor<f32>
// CHECK: %[[CV:.*]] = mp.minimum %[[LEAST]], %[[HIGH]] : tensor<4xf32>, tensor<f32>
// CHECK: return %{{.*}}, %[[CU]], %[[CV]], %{{.*}}, %[[ALL]]
mp.train @step of @loss {
  mp.minimize result(0) {params = ["u"], optimizer = #mp.sgd, clip_norm = 2.0}
  mp.minimize result(0) {params = ["v"], optimizer = #mp.sgd, clip_value = 0.5}
  mp.minimize result(0) {params = ["w"], optimizer = #mp.sgd}
}
