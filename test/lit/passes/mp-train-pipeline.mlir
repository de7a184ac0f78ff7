// RUN: mp-opt %examples/fashion-mnist/mlp.mlir -mp-train-pipeline='batch=8 total-steps=10' | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %examples/fashion-mnist/mlp.mlir -mp-train-pipeline='batch=8 total-steps=10 precision=16-mixed' | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %examples/fashion-mnist/mlp.mlir -mp-train-pipeline='batch=8 total-steps=10 precision=bf16' | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: mp-opt %examples/fashion-mnist/mlp.mlir -mp-train-pipeline='batch=8 total-steps=10 precision=fp32' | FileCheck %s --check-prefixes=CHECK,F32
// RUN: mp-opt %examples/fashion-mnist/mlp.mlir -mp-train-pipeline='batch=8 total-steps=10 scaler=none' | FileCheck %s --check-prefix=NONE
// RUN: not mp-opt %examples/fashion-mnist/mlp.mlir -mp-train-pipeline='batch=8 precision=fp17' 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not mp-opt %examples/fashion-mnist/mlp.mlir -mp-train-pipeline='total-steps=10' 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not mp-opt %examples/fashion-mnist/mlp.mlir -mp-train-pipeline='batch=8' 2>&1 | FileCheck %s --check-prefix=STEPS

// Six parameters have a working copy each and two slots each; only f16 is scaled.
// F16: mp.variable derived @fc1.weight.f16 : tensor<512x784xf16> from @fc1.weight
// F16: mp.variable scaler @scaler.scale
// BF16: mp.variable derived @fc1.weight.bf16
// BF16-NOT: mp.variable scaler
// F32-NOT: mp.variable derived
// F32-NOT: mp.variable scaler
// CHECK: mp.variable slot @fc1.weight.exp_avg

// F16-LABEL: func.func @step(
// F16-SAME: %{{.*}}: tensor<8x28x28xui8> {mp.name = "image"}, %{{.*}}: tensor<8xui8> {mp.name = "label"})
// F16-SAME: tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}, tensor<f32> {mp.name = "scale"}, tensor<i1> {mp.name = "skipped"}, tensor<f32> {mp.name = "lr"}, tensor<f32> {mp.name = "grad_norm"}
// BF16-LABEL: func.func @step(
// BF16-SAME: tensor<f32> {mp.name = "accuracy"}, tensor<f32> {mp.name = "lr"}
// F32-LABEL: func.func @step(

// Three layers: three products forward, five backward, as the gradient of the image is not needed.
// CHECK-COUNT-3: mp.linear
// CHECK-NOT: mp.linear
// CHECK-COUNT-5: mp.matmul
// CHECK-NOT: mp.matmul

// A skipped step writes parameters, copies, slots and two bounds under its flag, but two scaler
// variables and the attempts always; without a scaler nothing is skipped.
// F16-COUNT-27: mp.write @{{.*}} if %{{.*}}
// F16-NOT: if %
// BF16-COUNT-26: mp.write @{{[^ ]*}}, %{{[^ ]*}} :
// F32-COUNT-20: mp.write @{{[^ ]*}}, %{{[^ ]*}} :

// The recipe and its original function are erased.
// CHECK-LABEL: func.func @derive()
// F16-COUNT-8: mp.write
// BF16-COUNT-6: mp.write
// F32-NOT: mp.write
// CHECK-NOT: mp.train
// CHECK-NOT: func.func

// NONE-NOT: mp.variable scaler
// NONE: mp.name = "skipped"

// BAD: error: unknown precision "fp17"; did you mean fp16, {{.*}}? There are fp32, tf32, fp16, bf16, fp8, 16-mixed, bf16-mixed, mixed_float16, mixed_bfloat16, O0, O1, O2, O3
// BATCH: error: 'tensor<?x28x28x{{.*}}>' has a batch dimension: give mp-specialize a batch
// STEPS: mlp.mlir:{{.*}}: error: 'mp.minimize' op a linear schedule needs a length: give it `steps`, or the run `total-steps`
