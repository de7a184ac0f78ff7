// RUN: mp-opt %examples/fashion-mnist/mlp.mlir -mp-evaluate-pipeline='batch=8' | FileCheck %s
// RUN: mp-opt %examples/fashion-mnist/mlp.mlir -mp-evaluate-pipeline='batch=8 precision=fp32' | FileCheck %s --check-prefix=F32

// The recipe's function in the recipe's precision, from working copies, as kernels; it
// writes nothing, and its recipe stays for training.
// CHECK: mp.variable derived @fc1.weight.f16
// CHECK-LABEL: func.func @loss(
// CHECK-SAME: attributes {mp.mode = "eval"
// CHECK: mp.read @fc1.weight.f16
// CHECK-COUNT-3: mp.linear %{{.*}}xf16>
// CHECK-NOT: mp.write
// CHECK: func.func @derive()

// F32-LABEL: func.func @loss(
// F32-COUNT-3: mp.linear %{{.*}}xf32>
