// RUN: mp-translate --mp-to-program --mp-target=cuda --mp-batch=128 --mp-precision=fp16 --mp-total-steps=100 %S/../../../examples/fashion-mnist/mlp.mlir | grep -E "^entry|^  launch|^  copy|^  call" | FileCheck %s --implicit-check-not=launch --implicit-check-not=copy --implicit-check-not=call

// Independent stages are one launch with a table of addresses; products are
// launches of their own.

// CHECK-LABEL: entry step
// CHECK: copy 4 to arena+{{[0-9]+}} from @scaler.scale
// CHECK: launch {{.*}} table {{.*}}cast div cast
// CHECK: launch {{.*}} ; linear relu
// CHECK: launch {{.*}} ; linear relu
// CHECK: launch {{.*}} ; linear
// CHECK: launch {{.*}} exp
// CHECK-COUNT-5: launch {{.*}} ; matmul

// Second halves of the products' reductions, then the gradients of biases.
// CHECK: launch {{.*}} table args {{.*}} ; matmul
// CHECK: launch {{.*}} table args {{.*}} ; cast cast mul is_finite
// CHECK: launch {{.*}} update_scale

// The check of the copies of all parameters, in two halves.
// CHECK: launch {{.*}} table args {{.*}}@fc1.weight+0{{.*}}@fc3.bias+0{{.*}} adamw cast is_finite
// CHECK: launch {{.*}} table args {{.*}} adamw cast is_finite
// CHECK: launch {{.*}} maximum

// All updates.
// CHECK: launch {{.*}} table args {{.*}}@fc1.weight.f16+0{{.*}}@fc2.weight.f16+0{{.*}}@fc3.weight.f16+0{{.*}}@fc1.bias.f16+0{{.*}}@fc2.bias.f16+0{{.*}}@fc3.bias.f16+0

// CHECK-LABEL: entry derive
// CHECK: launch {{.*}} table args {{.*}} ; cast abs max
// CHECK: launch {{.*}} table args {{.*}} ; cast abs max
// CHECK: launch {{.*}} maximum
