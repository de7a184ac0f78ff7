// RUN: mp-opt %examples/fashion-mnist/mlp.mlir -mp-train-pipeline='batch=8 total-steps=10 precision=fp16' | FileCheck %s -enable-var-scope

// A weight's gradient is checked and squared where it is stored, a bias's summed there. Every
// evaluation of the update is under a flag: the bounds leave an overflow open, or the step is
// applied. Otherwise a step reads state of a parameter's size once.

// CHECK-LABEL: func.func @step(
// CHECK-NOT: ops = "{{[^"]*}}adamw
// CHECK-DAG: ops = "matmul relu_backward cast sum"} -> (tensor<8x256xf16>, tensor<256xf32>)
// CHECK-DAG: ops = "matmul relu_backward cast sum"} -> (tensor<8x512xf16>, tensor<512xf32>)
// CHECK-DAG: ops = "matmul cast mul is_finite not any mul sum"} -> (tensor<10x256xf16>, tensor<i1>, tensor<f32>)
// CHECK-DAG: ops = "matmul cast mul is_finite not any mul sum"} -> (tensor<256x512xf16>, tensor<i1>, tensor<f32>)
// CHECK-DAG: ops = "matmul cast mul is_finite not any mul sum"} -> (tensor<512x784xf16>, tensor<i1>, tensor<f32>)
// CHECK-NOT: ops = "{{[^"]*}}adamw
// CHECK: %[[FLAGS:.*]]:{{.*}} = mp.kernel({{.*}}) attributes {ops = "div {{.*}} sqrt is_finite and not not and"}
// CHECK-COUNT-6: if %[[FLAGS]]#{{[0-9]+}} attributes {ops = "{{.*}} adamw cast is_finite not any abs sqrt add div abs max max"}
// CHECK: %[[FINAL:.*]]:{{.*}} = mp.kernel({{.*}}) attributes {ops = "and select {{.*}} not"}
// CHECK-COUNT-6: if %[[FINAL]]#{{[0-9]+}} attributes {ops = "{{.*}} adamw cast"} -> (tensor<{{.*}}xf32>, tensor<{{.*}}xf32>, tensor<{{.*}}xf32>, tensor<{{.*}}xf16>)
// CHECK-NOT: ops = "
// CHECK: return
