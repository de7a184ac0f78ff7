// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

mp.variable @w : tensor<4xf32> = #mp.init<zeros>

func.func @loss(%x: tensor<4xf32> {mp.name = "x"}) -> tensor<f32> {
  %w = mp.read @w : tensor<4xf32>
  %y = mp.mul %x, %w : tensor<4xf32>, tensor<4xf32>
  %l = mp.sum %y dims[0] : tensor<4xf32>
  return %l : tensor<f32>
}

// CHECK-LABEL: mp.scaler @defaults{{$}}
mp.scaler @defaults
// CHECK: mp.scaler @scaler {growth_interval = 100 : i64, init_scale = 1.024000e+03 : f64}
mp.scaler @scaler {init_scale = 1024.0, growth_interval = 100}

// The scale never grows, in a system that allows this.
// CHECK: mp.scaler @steady {growth_factor = 1.000000e+00 : f64, preset = "apex-hysteresis"}
mp.scaler @steady {preset = "apex-hysteresis", growth_factor = 1.0}

// The policy is the default one.
// CHECK: mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
  // CHECK: mp.minimize result(0) {optimizer = #mp.adamw<lr = 1>, params = ["*", "!*.bias"], schedule = #mp.linear}
  mp.minimize result(0) {params = ["*", "!*.bias"], optimizer = #mp.adamw<lr = 1.0>, schedule = #mp.linear<to = 0.0>}
}

// CHECK: mp.train @plain of @loss {
mp.train @plain of @loss {
  // CHECK-NEXT: mp.minimize result(0) {optimizer = #mp.sgd}
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// CHECK: mp.train @windows of @loss accumulate(4) {
mp.train @windows of @loss accumulate(4) { mp.minimize result(0) {optimizer = #mp.sgd} }

// CHECK: mp.train @clipped of @loss attributes {clip_norm = 1.000000e+00 : f64} {
mp.train @clipped of @loss attributes {clip_norm = 1.0} {
  // CHECK-NEXT: mp.minimize result(0) {ema = 5.000000e-01 : f64, optimizer = #mp.lion}
  mp.minimize result(0) {optimizer = #mp.lion, ema = 0.5}
}

// CHECK: mp.data @images {x = #mp.column<"x" as npy, ui8 dims_in_files[0, 3, 1, 2]>, y = #mp.column<"y" as safetensors, f32 dims_in_files[0, 2, 1], key = "y">}
mp.data @images {x = #mp.column<"x" as npy, ui8 dims_in_files[0, 3, 1, 2]>, y = #mp.column<"y" as safetensors, f32 dims_in_files[0, 2, 1], key = "y">}

// CHECK: mp.data @cifar {x = #mp.column<"b_*" as records, ui8 shape[3, 32, 32] record <bytes = 3073, offset = 1> dims_in_files[0, 3, 1, 2]>, y = #mp.column<"b_*" as records, ui8 record <bytes = 3073>>}
mp.data @cifar {x = #mp.column<"b_*" as records, ui8 shape[3, 32, 32] record <bytes = 3073, offset = 1> dims_in_files[0, 3, 1, 2]>, y = #mp.column<"b_*" as records, ui8 record <bytes = 3073>>}

// CHECK: mp.data @pictures {x = #mp.column<"t" as images, ui8 shape[224, 224, 3]>, y = #mp.column<"t" as classes, i32>}
mp.data @pictures {x = #mp.column<"t" as images, ui8 shape[224, 224, 3]>, y = #mp.column<"t" as classes, i32>}
// CHECK: mp.data @text {x = #mp.column<"t.bin" as tokens, ui16 shape[64] window <tokens = 65, stride = 64>>, y = #mp.column<"t.bin" as tokens, ui16 shape[64] window <tokens = 65, stride = 64, offset = 1>>}
mp.data @text {x = #mp.column<"t.bin" as tokens, ui16 shape[64] window <tokens = 65, stride = 64>>, y = #mp.column<"t.bin" as tokens, ui16 shape[64] window <tokens = 65, stride = 64, offset = 1>>}
// CHECK: mp.data @train {x = #mp.column<"x*" as npy, f32>, y = #mp.column<"y" as safetensors, ui8, key = "labels">}
mp.data @train {x = #mp.column<"x*" as npy, f32>, y = #mp.column<"y" as safetensors, ui8, key = "labels">}
