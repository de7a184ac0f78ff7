// The gradient of the mean's operand is 1e-4 / 4096, which is zero in f16 but for the loss scale.
// RUN: mp-diff %s --policy keras --device cpu --steps 2 --warmup 0 | FileCheck %s
// RUN: mp-diff %s --policy keras --device cpu --steps 0 --scale 1 | FileCheck %s --check-prefix=UNSCALED
// RUN: mp-diff %s --policy bf16:keras --device cpu --steps 0 | FileCheck %s --check-prefix=BF16
// RUN: mp-diff %s --policy O2 --policy O3 --policy fp8 --device cpu --steps 0 | FileCheck %s --check-prefix=NAMES

// CHECK: loss scale 1 1024
// CHECK: launches of a step
// CHECK: step, median us
// CHECK: relative to the first 1.00
// CHECK: fp16:keras: every op is within the tolerance

// UNSCALED: 1 read @w {{.*}} 1.0e+00 !
// UNSCALED: 2 mul {{.*}} 1.0e+00 !
// UNSCALED: fp16:keras: first gradient beyond it (going backward): #2 mp.mul, error 1.0e+00, 4096 of 4096 elements beyond
// UNSCALED-NEXT: %y = mp.mul %w, %w
// UNSCALED-NEXT: computed from the gradients of #3 mean

// NAMES: fp16:apex-o2 fp16:apex-o3 bf16:fp8
// NAMES: loss scale 1024 1 1

// BF16: loss scale 1 1
// BF16: bf16:keras: every op is within the tolerance
mp.variable @w : tensor<4096xf32> = #mp.init<ones>
func.func @loss() -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<4096xf32>
  %y = mp.mul %w, %w : tensor<4096xf32>, tensor<4096xf32>
  %m = mp.mean %y dims[0] {mp.autocast = "f32"} : tensor<4096xf32>
  %c = mp.constant dense<1.0e-4> : tensor<f32>
  %l = mp.mul %m, %c {mp.autocast = "f32"} : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}
mp.scaler @scaler {preset = "torch", init_scale = 1024.0}
mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0e-3>}
}
