// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-optimizer | FileCheck %s -enable-var-scope
// RUN: mp-opt %s -mp-autodiff -mp-optimizer | FileCheck %s --check-prefix=ALWAYS
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-accumulate=accumulate=2 -mp-optimizer | FileCheck %s --check-prefix=WINDOW -enable-var-scope
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-clip-gradients=clip-norm=1 -mp-optimizer | FileCheck %s --check-prefix=CLIP -enable-var-scope
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-clip-gradients=clip-value=1 -mp-optimizer | FileCheck %s -enable-var-scope
// RUN: mp-opt %s -mp-train-pipeline -o %t.mlir
// RUN: mp-opt %s -mp-train-pipeline='accumulate=2 clip-norm=1' -o %t.mlir

// Two optimizers, each of which counts the steps that it applied.
// CHECK-DAG: mp.variable slot @step.critic.applied : tensor<i64>
// CHECK-DAG: mp.variable slot @step.1.applied : tensor<i64>
// CHECK-NOT: @step.applied
mp.variable @c : tensor<4xf32> = #mp.init<ones>
mp.variable @m : tensor<4xf32> = #mp.init<ones>
mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>
mp.scaler @scaler
func.func @losses(%z: tensor<4xf32>) -> (tensor<f32> {mp.name = "loss"}, tensor<f32>) {
  %c = mp.read @c : tensor<4xf32>
  %m = mp.read @m : tensor<4xf32>
  %made = mp.mul %z, %m : tensor<4xf32>, tensor<4xf32>
  %scores = mp.mul %made, %c : tensor<4xf32>, tensor<4xf32>
  %score = mp.sum %scores dims[0] : tensor<4xf32>
  mp.write @mean, %score : tensor<f32>
  %neg = mp.neg %score : tensor<f32>
  return %score, %neg : tensor<f32>, tensor<f32>
}

// Each follows its own flag; mp-predicate-step handles the writes that follow the step's.
// CHECK-LABEL: func.func @step(
// CHECK: %{{.*}}, %[[C:.*]] = mp.unscale_and_check
// CHECK: %{{.*}}, %[[M:.*]] = mp.unscale_and_check
// CHECK: %[[C0:.*]] = mp.read @step.critic.applied
// CHECK: %[[C1:.*]] = mp.add %[[C0]]
// CHECK: %[[M0:.*]] = mp.read @step.1.applied
// CHECK: %[[M1:.*]] = mp.add %[[M0]]
// CHECK: mp.schedule %[[C0]] by #mp.linear
// CHECK: mp.bias_correction %[[M1]]
// CHECK: %[[OK:.*]] = mp.not %[[C]]
// CHECK-NEXT: mp.write @step.critic.applied, %[[C1]] if %[[OK]]
// CHECK-NEXT: mp.write @c, %{{.*}} if %[[OK]]
// CHECK-NEXT: mp.write @c.momentum_buffer, %{{.*}} if %[[OK]]
// CHECK-NEXT: %[[OK1:.*]] = mp.not %[[M]]
// CHECK-NEXT: mp.write @step.1.applied, %[[M1]] if %[[OK1]]
// CHECK-NEXT: mp.write @m, %{{.*}} if %[[OK1]]
// CHECK-NEXT: mp.write @m.exp_avg, %{{.*}} if %[[OK1]]
// CHECK-NEXT: mp.write @m.exp_avg_sq, %{{.*}} if %[[OK1]]
// CHECK-NEXT: mp.write @m.ema, %{{.*}} if %[[OK1]]
// CHECK-NEXT: return

// If nothing can skip, there is no flag.
// ALWAYS-LABEL: func.func @step(
// ALWAYS-NOT: mp.name = "skipped
// ALWAYS: mp.write @step.critic.applied, %{{[^ ]*}} :
// ALWAYS: mp.write @c, %{{[^ ]*}} :

// A window gathers each flag.
// WINDOW: %{{.*}}, %[[C:.*]] = mp.unscale_and_check
// WINDOW: %{{.*}}, %[[M:.*]] = mp.unscale_and_check
// WINDOW: %[[BOTH:.*]] = mp.or %[[C]], %[[M]]
// WINDOW: mp.or %[[BOTH]]
// WINDOW-NEXT: mp.write @step.found_inf,
// WINDOW: mp.or %[[C]]
// WINDOW-NEXT: mp.write @step.found_inf.critic,
// WINDOW: mp.or %[[M]]
// WINDOW-NEXT: mp.write @step.found_inf.1,
// WINDOW-LABEL: func.func @step() -> ({{.*}}{mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.critic"}, tensor<i1> {mp.name = "skipped.1"}
// WINDOW: %[[ALL:.*]] = mp.read @step.found_inf :
// WINDOW: %[[C:.*]] = mp.read @step.found_inf.critic :
// WINDOW: %[[M:.*]] = mp.read @step.found_inf.1 :
// WINDOW: mp.update_scale %{{.*}}, %{{.*}}, %[[ALL]]
// WINDOW: %[[OK:.*]] = mp.not %[[C]]
// WINDOW: mp.write @c, %{{.*}} if %[[OK]]
// WINDOW: %[[OK1:.*]] = mp.not %[[M]]
// WINDOW: mp.write @m, %{{.*}} if %[[OK1]]

// The norm of all gradients is infinite if one is: then both skip. Clipping by elements is independent.
// CLIP: %[[BOTH:.*]] = mp.or
// CLIP: mp.clip_factor
// CLIP: %[[OK:.*]] = mp.not %[[BOTH]]
// CLIP: mp.write @c, %{{.*}} if %[[OK]]
// CLIP: %[[OK1:.*]] = mp.not %[[BOTH]]
// CLIP: mp.write @m, %{{.*}} if %[[OK1]]
// CLIP: return {{.*}}, %[[BOTH]], %[[BOTH]], %[[BOTH]]
mp.train @step of @losses scaler(@scaler) {
  mp.minimize result(0) {params = ["c"], optimizer = #mp.sgd<momentum = 0.9>, schedule = #mp.linear<steps = 10>, optimizer_name = "critic"}
  mp.minimize result(1) {params = ["m"], optimizer = #mp.adamw, ema = 0.9}
}
