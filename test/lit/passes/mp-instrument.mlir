// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument))' | FileCheck %s
// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument{replay}))' | FileCheck %s --check-prefix=REPLAY
// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-fuse,mp-instrument{mode=step}))' | FileCheck %s --check-prefix=STEP
// RUN: not mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument,mp-instrument))' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mp-opt %s --pass-pipeline='builtin.module(func.func(mp-fuse,mp-instrument))' 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument{mode=step}))' 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument{mode=every}))' 2>&1 | FileCheck %s --check-prefix=MODE

// Every input and op has its range; what a mask's infinity makes is meant, and so is what another micro-batch left.
mp.variable @w : tensor<4xf16> = #mp.init<zeros>
mp.variable window @sum : tensor<4xf16> = #mp.init<zeros>

// CHECK-LABEL: func.func @step
// CHECK-SAME: -> (tensor<4xf16>, tensor<i32> {mp.name = "n"}, tensor<i32> {mp.name = "record.0.nonfinite"}, tensor<f32> {mp.name = "record.0.least"},
// CHECK-SAME: tensor<f32> {mp.name = "record.0.largest"}, tensor<i32> {mp.name = "record.0.row"}
// CHECK-SAME: mp.records = [
// CHECK-SAME: op = "input 'x'", operands = array<i64>, phase = "input", source = #{{[a-z0-9]+}}, type = tensor<4xf16>}
// CHECK-SAME: op = "variable 'w'"
// CHECK-SAME: {meant, op = "variable 'sum'"
// CHECK-SAME: {meant, op = "mp.add", operands = array<i64: 1>, phase = "forward"
// CHECK-SAME: op = "mp.exp of the new 'sum'", operands = array<i64: 3>, phase = "forward", source = #{{[a-z0-9]+}}, type = tensor<4xf16>, watched}

// Nothing but records is returned, and what belongs to no window is not written.
// REPLAY-LABEL: func.func @step
// REPLAY-SAME: -> (tensor<i32> {mp.name = "record.0.nonfinite"}
// REPLAY-NOT: mp.write @w
// REPLAY: mp.write @sum
// REPLAY-NOT: mp.write @w

// A kernel's floats have their largest magnitude, within the kernel.
// STEP-LABEL: func.func @step
// STEP-SAME: tensor<i32> {mp.name = "record.0.magnitude"}
// STEP-SAME: mp.records = [{meant, op = "update of variable 'sum'"
// STEP: mp.kernel
// STEP: %[[E:.*]] = mp.exp
// STEP: %[[BITS:.*]] = mp.magnitude %[[E]] : tensor<4xf16>
// STEP: %[[MOST:.*]] = mp.max %[[BITS]] dims[0] : tensor<4xi32>
// STEP: mp.yield %[[E]], {{.*}}%[[MOST]]

// TWICE: mp-instrument.mlir:[[#@LINE+4]]:1: error: 'func.func' op has records already
// LATE: mp-instrument.mlir:[[#@LINE+3]]:1: error: 'func.func' op has kernels: in mode "all" mp-instrument comes before mp-fuse
// EARLY: mp-instrument.mlir:[[#@LINE+2]]:1: error: 'func.func' op has no kernels: in mode "step" mp-instrument comes behind mp-fuse
// MODE: mp-instrument.mlir:[[#@LINE+1]]:1: error: mp-instrument: mode is "every", expected "step" or "all"
func.func @step(%x: tensor<4xf16> {mp.name = "x"}, %i: tensor<4xi32>) -> (tensor<4xf16>, tensor<i32> {mp.name = "n"}) {
  %w = mp.read @w : tensor<4xf16>
  %s = mp.read @sum : tensor<4xf16>
  %mask = mp.constant dense<[0.0, 0xFC00, 0.0, 0.0]> : tensor<4xf16>
  %a = mp.add %w, %mask : tensor<4xf16>, tensor<4xf16>
  %e = mp.exp %a : tensor<4xf16>
  mp.write @sum, %e : tensor<4xf16>
  mp.write @w, %s : tensor<4xf16>
  %n = mp.sum %i dims[0] : tensor<4xi32>
  return %e, %n : tensor<4xf16>, tensor<i32>
}
