// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-number-ops,mp-widen-floats))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-number-ops,mp-widen-floats,mp-widen-floats))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-widen-floats{to=f32}))' | FileCheck %s --check-prefix=F32

mp.variable @w : tensor<4xf32> = #mp.init<ones>
mp.variable buffer @m : tensor<4xf32> = #mp.init<zeros>
mp.variable buffer @v : tensor<4xf32> = #mp.init<ones>

// An input keeps its bits, and the cast stands for the read.
// CHECK-LABEL: @reads
// CHECK-SAME: (%[[X:.*]]: tensor<4xf16>) -> tensor<4xf64>
func.func @reads(%x: tensor<4xf16>) -> tensor<4xf32> {
  // CHECK: %[[A:.*]] = mp.cast %[[X]] : tensor<4xf16> to tensor<4xf64>
  // CHECK: %[[R:.*]] = mp.read @w : tensor<4xf32>
  // CHECK: %[[W:.*]] = mp.cast %[[R]] {mp.number = 1 : i64} : tensor<4xf32> to tensor<4xf64>
  %w = mp.read @w : tensor<4xf32>
  // CHECK: %[[C:.*]] = mp.constant dense<1.000000e-01> : tensor<f32>
  // CHECK: %[[K:.*]] = mp.cast %[[C]] {mp.number = 2 : i64} : tensor<f32> to tensor<f64>
  %c = mp.constant dense<0.1> : tensor<f32>
  // A cast does not round any more.
  // CHECK: %[[Y:.*]] = mp.cast %[[A]] {mp.number = 3 : i64} : tensor<4xf64> to tensor<4xf64>
  %y = mp.cast %x : tensor<4xf16> to tensor<4xf32>
  // CHECK: %[[Z:.*]] = mp.mul %[[Y]], %[[W]] {mp.number = 4 : i64} : tensor<4xf64>, tensor<4xf64>
  %z = mp.mul %y, %w : tensor<4xf32>, tensor<4xf32>
  // CHECK: %[[S:.*]] = mp.mul %[[Z]], %[[K]] {mp.number = 5 : i64} : tensor<4xf64>, tensor<f64>
  %s = mp.mul %z, %c : tensor<4xf32>, tensor<f32>
  // CHECK: return %[[S]] : tensor<4xf64>
  return %s : tensor<4xf32>
}

// Statistics are f64 with their norm; a written value has the variable's type.
// CHECK-LABEL: @norm
func.func @norm(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = mp.read @m : tensor<4xf32>
  %v = mp.read @v : tensor<4xf32>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[M:.*]], %{{.*}} = mp.batch_norm {{.*}} : tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>
  %y, %mean, %rstd, %m1, %v1 = mp.batch_norm %x, %m, %v : tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>
  // CHECK: %[[N:.*]] = mp.cast %[[M]] : tensor<4xf64> to tensor<4xf32>
  // CHECK: mp.write @m, %[[N]] : tensor<4xf32>
  mp.write @m, %m1 : tensor<4xf32>
  return %y : tensor<3x4xf32>
}

// Integers stay, floats made of them are f64, and random numbers are the same as without the pass.
// CHECK-LABEL: @mixed
func.func @mixed(%i: tensor<4xui8>) -> tensor<4xf32> {
  // CHECK: mp.cast %{{.*}} : tensor<4xui8> to tensor<4xf64>
  %x = mp.cast %i : tensor<4xui8> to tensor<4xf32>
  // CHECK: %[[U:.*]] = mp.uniform : tensor<4xf32>
  // CHECK: mp.cast %[[U]] {mp.number = 2 : i64} : tensor<4xf32> to tensor<4xf64>
  %r = mp.uniform : tensor<4xf32>
  // CHECK: mp.dropout {{.*}} : tensor<4xf64>
  %d = mp.dropout %x : tensor<4xf32>
  %y = mp.add %d, %r : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// The default epsilon of f32 is used in f64 too.
// CHECK-LABEL: @rms
func.func @rms(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: mp.rms_norm {{.*}} {eps = 1.1920928955078125E-7 : f64, mp.number = 1 : i64} : tensor<3x4xf64>
  %y, %rstd = mp.rms_norm %x normalized_shape[4] : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// With to=f32, f32 values stay; a copy in f16 is still a separate value.
// F32-LABEL: @copies
// F32-SAME: (%[[X:.*]]: tensor<4xf16>) -> tensor<4xf32>
func.func @copies(%x: tensor<4xf16>) -> tensor<4xf32> {
  // F32: %[[A:.*]] = mp.cast %[[X]] : tensor<4xf16> to tensor<4xf32>
  // F32: %[[W:.*]] = mp.read @w : tensor<4xf32>
  %w = mp.read @w : tensor<4xf32>
  // F32: %[[H:.*]] = mp.cast %[[W]] : tensor<4xf32> to tensor<4xf32>
  %h = mp.cast %w : tensor<4xf32> to tensor<4xf16>
  // F32: %[[Y:.*]] = mp.mul %[[A]], %[[H]] : tensor<4xf32>, tensor<4xf32>
  %y = mp.mul %x, %h : tensor<4xf16>, tensor<4xf16>
  // F32: %[[Z:.*]] = mp.cast %[[Y]] : tensor<4xf32> to tensor<4xf32>
  %z = mp.cast %y : tensor<4xf16> to tensor<4xf32>
  // F32: return %[[Z]]
  return %z : tensor<4xf32>
}
