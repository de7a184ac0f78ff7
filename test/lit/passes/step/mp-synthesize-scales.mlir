// RUN: mp-opt %s -pass-pipeline='builtin.module(mp-autocast,func.func(mp-number-ops{only=f16}),mp-synthesize-scales{scales=%S/Inputs/scales.json})' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(mp-autocast,func.func(mp-number-ops{only=f16}),mp-synthesize-scales{scales=%S/Inputs/scales.json headroom=3 scaler=static:1024})' | FileCheck %s --check-prefix=LESS
// RUN: mp-opt %s -pass-pipeline='builtin.module(mp-autocast,func.func(mp-number-ops{only=f16}),mp-synthesize-scales{scales=%S/Inputs/scales.json},mp-autodiff,symbol-dce)' | FileCheck %s --check-prefix=BACKWARD
// RUN: mp-opt %s -mp-train-pipeline="batch=2 scales=%S/Inputs/scales.json" | FileCheck %s --check-prefix=STEP
// RUN: echo '{"headroom": 0, "gradients": [{"number": 2, "result": 0, "of": "@w", "largest": 3.0}, {"number": 3, "result": 0, "of": "mp.linear", "largest": 0.5}]}' > %t.json
// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-autocast,func.func(mp-number-ops{only=f16}),mp-synthesize-scales{scales=%t.json})' 2>&1 | FileCheck %s --check-prefix=FEWER

mp.variable @w : tensor<4x4xf32> = #mp.init<ones>
mp.variable @v : tensor<4x4xf32> = #mp.init<ones>

// The largest gradient of an op and of its f16 operands decides: 3.0 of @w for the first linear, so 2^14; 0.5 of its
// result for the relu, so 2^16; 8e-6 of @v for the second, but 0.001 of its input, so 2^25.
// The numbers of ops are removed, and a value that carries no gradient gets no scale.
// CHECK-LABEL: func.func @loss
// CHECK: %[[X:.*]] = mp.cast %arg0 : tensor<2x4xf32> to tensor<2x4xf16>
// CHECK: %[[W:.*]] = mp.read @w
// CHECK: %[[WS:.*]] = mp.scale_gradient %[[W]] by -14 : tensor<4x4xf32>
// CHECK: %[[WH:.*]] = mp.cast %[[WS]]
// CHECK: %[[H:.*]] = mp.linear %[[X]], %[[WH]] :
// CHECK: %[[HS:.*]] = mp.scale_gradient %[[H]] by -2 : tensor<2x4xf16>
// CHECK: %[[A:.*]] = mp.relu %[[HS]]
// CHECK: %[[VS:.*]] = mp.scale_gradient %{{.*}} by -25 : tensor<4x4xf32>
// CHECK: %[[AS:.*]] = mp.scale_gradient %[[A]] by -9 : tensor<2x4xf16>
// CHECK: %[[Y:.*]] = mp.linear %[[AS]]
// The cast to f32 has the scale of its operand: the gradient is scaled before it is rounded.
// CHECK: %[[WIDE:.*]] = mp.cast %[[Y]]
// CHECK: %[[ROOT:.*]] = mp.scale_gradient %[[WIDE]] by 25 : tensor<2x4xf32>
// CHECK: mp.sum %[[ROOT]]

// Three bits of headroom and a first loss scale of 2^10.
// LESS: mp.scale_gradient %{{.*}} by -1 : tensor<4x4xf32>
// LESS: mp.scale_gradient %{{.*}} by 12 : tensor<2x4xf32>

// Forward is unchanged; the scales stand in backward, and are undone in f32.
// BACKWARD-LABEL: func.func @step
// BACKWARD-NOT: mp.scale_gradient
// BACKWARD: mp.seed
// BACKWARD: %[[UP:.*]] = mp.scale %{{.*}} : tensor<2x4xf32>, tensor<f32>
// BACKWARD: mp.cast %[[UP]] : tensor<2x4xf32> to tensor<2x4xf16>
// BACKWARD: %[[DV:.*]] = mp.scale %{{.*}} : tensor<4x4xf32>, tensor<f32>
// BACKWARD: %[[DW:.*]] = mp.scale %{{.*}} : tensor<4x4xf32>, tensor<f32>
// BACKWARD: return %{{.*}}, %[[DW]], %[[DV]]

// The graph has grown since: its first values are those of the file.
// FEWER: error: {{.*}}.json is of another graph, or of another policy: it has no gradient of f16 value 4, which here is mp.relu; calibrate again

// The step passes mp-verify-step.
// STEP: mp.write @w
func.func @loss(%x: tensor<2x4xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<4x4xf32>
  %h = mp.linear %x, %w : tensor<2x4xf32>, tensor<4x4xf32>
  %a = mp.relu %h : tensor<2x4xf32>
  %v = mp.read @v : tensor<4x4xf32>
  %y = mp.linear %a, %v : tensor<2x4xf32>, tensor<4x4xf32>
  %l = mp.sum %y dims[0, 1] : tensor<2x4xf32>
  return %l : tensor<f32>
}
mp.scaler @scaler {preset = "static:1"}
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0>}
}
