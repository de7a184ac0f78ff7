// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-synthesize-scales)' 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-synthesize-scales{scales=%t.none})' 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-synthesize-scales{scales=%s})' 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: echo '{"headroom": 0, "gradients": [{"number": 1}]}' > %t.json
// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-synthesize-scales{scales=%t.json})' 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-autocast,mp-synthesize-scales{scales=%S/Inputs/scales.json})' 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-autocast,func.func(mp-number-ops{only=f16}),mp-synthesize-scales{scales=%S/Inputs/scales.json})' 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-autocast,func.func(mp-number-ops{only=f16}),mp-synthesize-scales{scales=%S/Inputs/scales.json scaler=none})' 2>&1 | FileCheck %s --check-prefix=SCALER
// RUN: echo '{"headroom": 0, "gradients": []}' > %t.json
// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-autocast,func.func(mp-number-ops{only=f16}),mp-synthesize-scales{scales=%t.json})' 2>&1 | FileCheck %s --check-prefix=GRADIENT
// RUN: not mp-opt %s -mp-train-pipeline="scales=%S/Inputs/scales.json scaler=none" 2>&1 | FileCheck %s --check-prefix=SCALER
// RUN: not mp-opt %s -mp-train-pipeline="scales=%S/Inputs/scales.json precision=bf16" 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: python3 -c "print('[' * 100000)" > %t.json
// RUN: not mp-opt %s -pass-pipeline='builtin.module(mp-synthesize-scales{scales=%t.json})' 2>&1 | FileCheck %s --check-prefix=DEEP

// HALF: [[@LINE+20]]:1: error: 'mp.train' op has no f16 value, whose gradient could want a scale of its own: train in fp16, or without a calibration
// DEEP: is not a calibration, {{.*}}: nests deeper than 8
// NOFILE: error: name the file of a calibration
// MISSING: error: cannot read {{.*}}.none: No such file
// FORMAT: is not a calibration, as 'mp-run calibrate --json' writes it: [1:1, byte=1]: Invalid JSON value
// FIELD: is not a calibration, as 'mp-run calibrate --json' writes it: a gradient lacks "number", "result", "of" or "largest"
// NUMBERS: [[@LINE+5]]:1: error: 'func.func' op has no f16 value with a number: cast it to f16, and run mp-number-ops{only=f16}
// OTHER: [[@LINE+6]]:8: error: {{.*}}scales.json is of another graph, or of another policy: its f16 value 2 is @w, which here is mp.linear; calibrate again
// GRADIENT: [[@LINE+7]]:8: error: 'mp.gradient' op is a gradient inside the function, whose value scales would change
// SCALER: [[@LINE+11]]:1: error: 'mp.train' op gives gradients scales of their own but has no loss scaler, which finds where one overflows: write mp.scaler @scaler {preset = "static:1"}
mp.variable @w : tensor<4x4xf32> = #mp.init<ones>
func.func @loss(%x: tensor<2x4xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<4x4xf32>
  %h = mp.linear %w, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %s = mp.sum %h dims[0, 1] : tensor<4x4xf32>
  %g = mp.gradient %s of %h : tensor<f32>, tensor<4x4xf32>
  %l = mp.sum %g dims[0, 1] : tensor<4x4xf32>
  return %l : tensor<f32>
}
mp.scaler @scaler {preset = "static:1"}
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0>}
}
