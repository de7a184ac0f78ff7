// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autocast -mp-autodiff -mp-place-casts -mp-loss-scale -mp-quantize | FileCheck %s
// RUN: mp-opt %s -mp-train-pipeline='batch=4' -o /dev/null
// RUN: mp-opt %s -mp-train-pipeline='batch=4 accumulate=2' -o /dev/null
// RUN: not mp-opt %s -mp-specialize=batch=4 -mp-autocast -mp-autodiff -mp-loss-scale -mp-accumulate=accumulate=2 -mp-quantize 2>&1 | FileCheck %s --check-prefix=LATE

// The history of a gradient is without the loss scale, and an infinite one skips the
// step; its scale is for the scaled gradient.
// CHECK-LABEL: func.func @step(
// CHECK: %[[LOSS:.+]] = mp.read @scaler.scale
// CHECK: mp.scale %{{.*}}, %[[LOSS]]
// CHECK: %[[AMAX:.+]] = mp.max %{{.*}} dims[0, 1] : tensor<4x2xf32>
// CHECK: %[[HISTORY:.+]] = mp.read @w.output_gradient.amax
// CHECK: %[[LARGEST:.+]] = mp.max %[[HISTORY]] dims[0]
// CHECK: %[[SCALED:.+]] = mp.mul %[[LARGEST]], %[[LOSS]]
// CHECK: %{{.*}}, %[[BAD:.+]] = mp.unscale_and_check %[[AMAX]], %[[LOSS]]
// CHECK: mp.div %{{.*}}, %[[SCALED]]
// CHECK: %[[SKIPPED:.+]] = mp.or %{{.*}}, %[[BAD]]
// CHECK: mp.update_scale %[[LOSS]], %{{.*}}, %[[SKIPPED]]
// CHECK: return {{.*}}%[[SKIPPED]]

// LATE: error: {{.*}} is split already: run mp-quantize before mp-accumulate
mp.scaler @scaler
mp.variable @w : tensor<2x8xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<2x8xf32>
  %y = mp.linear %x, %w : tensor<?x8xf32>, tensor<2x8xf32>
  %s = mp.softmax %y dim(1) : tensor<?x2xf32>
  %l = mp.mean %s dims[0, 1] : tensor<?x2xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = f16, policy = "fp8">) scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-2>}
}
