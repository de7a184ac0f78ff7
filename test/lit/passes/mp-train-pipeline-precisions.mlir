// RUN: mp-opt %s -mp-train-pipeline='batch=4 precision=mixed_float16' | FileCheck %s --check-prefixes=SCALED,KERAS
// RUN: mp-opt %s -mp-train-pipeline='batch=4 precision=mixed_float16 policy=torch' | FileCheck %s --check-prefixes=SCALED,TORCH
// RUN: mp-opt %s -mp-train-pipeline='batch=4 precision=O2' | FileCheck %s --check-prefixes=SCALED,KERAS
// RUN: mp-opt %s -mp-train-pipeline='batch=4 precision=O1' | FileCheck %s --check-prefixes=SCALED,TORCH
// RUN: mp-opt %s -mp-train-pipeline='batch=4 precision=O3' | FileCheck %s --check-prefixes=UNSCALED,KERAS
// RUN: mp-opt %s -mp-train-pipeline='batch=4 precision=fp8' | FileCheck %s --check-prefixes=UNSCALED,FP8
// RUN: mp-opt %s -mp-train-pipeline='batch=4 precision=bf16' | FileCheck %s --check-prefixes=UNSCALED,OWN

// A name has its system's settings; an option overrides them, and a name that is only a
// type keeps the recipe's policy.
// SCALED-DAG: mp.variable scaler @scaler.scale
// UNSCALED-NOT: mp.variable scaler
// KERAS-DAG: mp.variable derived @v.f16
// TORCH-NOT: mp.variable derived @v.
// FP8: mp.variable buffer @w.amax
// OWN: mp.variable derived @w.bf16
mp.variable @w : tensor<2x8xf32> = #mp.init<kaiming_uniform>
mp.variable @v : tensor<2xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<2x8xf32>
  %v = mp.read @v : tensor<2xf32>
  %y = mp.linear %x, %w : tensor<?x8xf32>, tensor<2x8xf32>
  %e = mp.exp %v : tensor<2xf32>
  %m = mp.mul %y, %e : tensor<?x2xf32>, tensor<2xf32>
  %l = mp.mean %m dims[0, 1] {mp.autocast = "f32"} : tensor<?x2xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = f16, policy = "torch-cpu">) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-2>}
}
