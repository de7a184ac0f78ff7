// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=relax explain=%t.json' --remarks-filter=mp-autocast --remark-policy=all --remark-format=emitRemark 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK <%t.err
// RUN: FileCheck %s --check-prefix=WHY <%t.json
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=tf-fp16 explain=%t.json' --remarks-filter=mp-autocast --remark-policy=all --remark-format=emitRemark -o /dev/null 2>%t.err
// RUN: FileCheck %s --check-prefix=COLOUR <%t.err
// RUN: FileCheck %s --check-prefix=COLOURED <%t.json

// If a constant keeps an op in f32 that would follow its neighbours, the op's remark says so, with the constant.

// CHECK-LABEL: @large
// REMARK: mp-autocast-constants.mlir:[[@LINE+11]]:8: remark: [Missed] constant | Category:mp-autocast | {{.*}}mp.mul: stays f32 for operand 1, the constant at {{.*}}mp-autocast-constants.mlir:[[@LINE+9]]:8: listed under follow as "multiply", but constant 1e+06 becomes infinite in f16
// COLOUR: remark: [Missed] constant {{.*}}mp.mul: stays f32 for operand 1, {{.*}}: listed under infer as "Mul", but constant 1e+06 becomes infinite in f16
// COLOURED: "why": "constant 1e+06 becomes infinite in f16"
// WHY: "constant": {
// WHY-NEXT: "operand": 1,
// WHY-NEXT: "source": "{{.*}}mp-autocast-constants.mlir:[[@LINE+4]]:8",
// WHY-NEXT: "why": "constant 1e+06 becomes infinite in f16"
func.func @large(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = mp.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %c = mp.constant dense<1.0e+6> : tensor<4x4xf32>
  // CHECK: mp.mul %{{.*}} : tensor<4x4xf32>
  %y = mp.mul %m, %c : tensor<4x4xf32>, tensor<4x4xf32>
  %z = mp.matmul %y, %y : tensor<4x4xf32>, tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// CHECK-LABEL: @small
// REMARK: remark: [Missed] constant {{.*}}mp.add: stays f32 for operand 0, {{.*}} but constant 1e-12 becomes zero in f16
func.func @small(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = mp.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %c = mp.constant dense<1.0e-12> : tensor<4x4xf32>
  // CHECK: mp.add %{{.*}} : tensor<4x4xf32>
  %y = mp.add %c, %m : tensor<4x4xf32>, tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// One op is f32 for another reason too, and the other's constant fits f16: the remarks do not name constants.
// REMARK-NOT: [Missed]
// WHY: "function": "silent"
// WHY-NOT: "constant"
// CHECK-LABEL: @silent
func.func @silent(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %m = mp.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %c = mp.constant dense<1.0e+6> : tensor<4x4xf32>
  // CHECK: mp.mul %{{.*}} : tensor<4x4xf32>
  %y = mp.mul %x, %c : tensor<4x4xf32>, tensor<4x4xf32>
  %two = mp.constant dense<2.0> : tensor<4x4xf32>
  // CHECK: mp.mul %{{.*}} : tensor<4x4xf16>
  %z = mp.mul %m, %two : tensor<4x4xf32>, tensor<4x4xf32>
  return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
}
