// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument))' | FileCheck %s
// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument))' | FileCheck %s --check-prefix=ROWS
// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument{replay}))' | FileCheck %s --check-prefix=REPLAY
// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-fuse,mp-instrument{mode=step}))' | FileCheck %s --check-prefix=STEP
// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument,mp-fuse))' | FileCheck %s --check-prefix=APART
// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-fuse,mp-instrument{mode=step}))' | FileCheck %s --check-prefix=NUMBER
// RUN: not mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument,mp-instrument))' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mp-opt %s --pass-pipeline='builtin.module(func.func(mp-fuse,mp-instrument))' 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument{mode=step}))' 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not mp-opt %s --pass-pipeline='builtin.module(func.func(mp-instrument{mode=every}))' 2>&1 | FileCheck %s --check-prefix=MODE

// Every input and op has its range; results of a mask's infinity are meant, and so are another micro-batch's.
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

// Only records are returned, and only window variables are written.
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
// EARLY: mp-instrument.mlir:[[#@LINE+2]]:1: error: 'func.func' op has no kernels: in mode "step" mp-instrument comes after mp-fuse
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

// Ops that look at a value are in kernels of one dimension, so that the sum's kernel keeps its dimensions and order.
// APART-LABEL: func.func @sums
// APART: mp.kernel(%{{.*}} = %{{.*}} : tensor<8x3x7x5xf32>) attributes {ops = "exp sum"}
// APART: mp.kernel(%{{.*}} = %{{.*}} : tensor<840xf32>) attributes {ops = "is_finite {{.*}}iota
func.func @sums(%x: tensor<8x3x7x5xf32>) -> tensor<8x3x1x1xf32> {
  %e = mp.exp %x : tensor<8x3x7x5xf32>
  %s = mp.sum %e dims[2, 3] keepdim : tensor<8x3x7x5xf32>
  return %s : tensor<8x3x1x1xf32>
}

// A single number has a record only if it is state: a parameter may be one.
// NUMBER-LABEL: func.func @numbers
// NUMBER-SAME: -> (tensor<f32>, tensor<i32> {mp.name = "record.0.magnitude"}, tensor<i32> {mp.name = "record.1.magnitude"})
// NUMBER-SAME: mp.records = [{op = "update of variable 'one'", {{.*}}watched}, {op = "update of variable 'temperature'", {{.*}}watched}]
mp.variable @temperature : tensor<f32> = #mp.init<ones>
mp.variable @one : tensor<1x1xf32> = #mp.init<ones>
func.func @numbers(%x: tensor<f32>, %z: tensor<1x1xf32>) -> tensor<f32> {
  %e = mp.exp %x : tensor<f32>
  %y = mp.exp %z : tensor<1x1xf32>
  mp.write @one, %y : tensor<1x1xf32>
  %t = mp.log %e : tensor<f32>
  mp.write @temperature, %t : tensor<f32>
  return %e : tensor<f32>
}

// A weight's rows are not samples, although there may be as many.
// ROWS-LABEL: func.func @rows
// ROWS-SAME: "record.0.row"
// ROWS-NOT: "record.2.row"
// ROWS-SAME: "record.3.row"
// ROWS-SAME: op = "input 'x'"{{.*}}op = "variable 'w'"{{.*}}op = "mp.exp"{{.*}}op = "mp.mul"
func.func @rows(%x: tensor<4xf16> {mp.name = "x"}) -> tensor<4xf16> {
  %w = mp.read @w : tensor<4xf16>
  %e = mp.exp %w : tensor<4xf16>
  %y = mp.mul %x, %e : tensor<4xf16>, tensor<4xf16>
  return %y : tensor<4xf16>
}
