// RUN: mp-opt %s -mp-autodiff -mp-loss-scale | FileCheck %s
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale=scaler=keras2 | FileCheck %s --check-prefix=KERAS2
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale=default-scaler=keras | FileCheck %s
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale=scaler=static:64 | FileCheck %s --check-prefix=STATIC
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale=scaler=none | FileCheck %s --check-prefix=NONE
// RUN: not mp-opt %s -mp-autodiff -mp-loss-scale=scaler=static:auto 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: not mp-opt %s -mp-autodiff -mp-loss-scale=scaler=karas 2>&1 | FileCheck %s --check-prefix=UNKNOWN

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @loss() -> tensor<f32> {
  %w = mp.read @w : tensor<f32>
  return %w : tensor<f32>
}

mp.scaler @deep {preset = "deepspeed", init_scale = 4096.0}
mp.train @deepspeed of @loss scaler(@deep) { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.scaler @fair {preset = "fairseq", tolerance = 0.25}
mp.train @fairseq of @loss scaler(@fair) { mp.minimize result(0) {optimizer = #mp.sgd} }

// A preset gives the fields, and with them the counters; attributes replace its own.
// CHECK: mp.variable scaler @deep.scale : tensor<f32> = #mp.init<constant, value = 4096>
// CHECK: mp.variable scaler @deep.growth_tracker : tensor<i32> = #mp.init<constant, value = -1>
// CHECK: mp.variable scaler @deep.hysteresis_tracker : tensor<i32> = #mp.init<constant, value = 2>
// CHECK: mp.variable scaler @fair.scale : tensor<f32> = #mp.init<constant, value = 128>
// CHECK: mp.variable scaler @fair.steps_since_rescale : tensor<i32> = #mp.init<zeros>
// CHECK: mp.variable scaler @fair.overflows_since_rescale : tensor<i32> = #mp.init<zeros>

// The last recipe's step is the first function.
// CHECK-LABEL: func.func @fairseq(
// CHECK: mp.update_scale %{{.*}} counters(%{{[^ ]*}}, %{{[^ ]*}}) {growth_interval = 16384 : i64, min_scale = 1.000000e-04 : f64, on_min = "raise_before", tolerance = 2.500000e-01 : f64}

// If a run can end, the step has a result for it.
// CHECK-LABEL: func.func @deepspeed(
// CHECK-SAME: tensor<i1> {mp.name = "scale_exhausted"})
// CHECK: mp.update_scale %{{.*}} counters(%{{.*}}) {growth_delay = 1 : i64, growth_interval = 1000 : i64, hysteresis = 2 : i64, min_scale = 1.000000e+00 : f64, on_min = "raise"}
// CHECK: mp.write @deep.hysteresis_tracker

// The option's preset takes the place of each, under its name.
// KERAS2: mp.variable scaler @deep.scale : tensor<f32> = #mp.init<constant, value = 32768>
// KERAS2-NOT: hysteresis_tracker
// KERAS2-COUNT-2: mp.update_scale %{{.*}} {min_scale = 1.000000e+00 : f64}
// KERAS2: mp.scaler @deep {preset = "keras2"}

// A static scale is a constant, and is checked.
// STATIC-NOT: mp.variable scaler
// STATIC: %[[K:.*]] = mp.constant dense<6.400000e+01> : tensor<f32>
// STATIC: mp.scale %{{.*}}, %[[K]]
// STATIC: mp.unscale_and_check %{{.*}}, %[[K]]
// STATIC-NOT: mp.update_scale

// NONE-NOT: mp.unscale_and_check

// AUTO: error: 'mp.train' op its loss scale is static:auto, which mp-run train chooses by a calibration: name one here, as static:N
// UNKNOWN: error: unknown scaler "karas"; did you mean "keras"?
