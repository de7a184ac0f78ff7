// RUN: mp-opt %s --pass-pipeline='builtin.module(func.func(mp-flag-overflow))' | FileCheck %s

// Whether each value is not finite although what it is made of is. Constants are meant, state stays as it is.
mp.variable @w : tensor<4xf16> = #mp.init<zeros>
mp.variable window @sum : tensor<4xf16> = #mp.init<zeros>

// CHECK-LABEL: func.func @step
// CHECK-SAME: -> (tensor<i1> {mp.name = "0: input 'x'"}, tensor<i1> {mp.name = "1: variable 'w' at {{.*}}.mlir:[[#@LINE+6]]:8"},
// CHECK-SAME: tensor<i1> {mp.name = "2: mp.add at {{.*}}.mlir:[[#@LINE+9]]:8"},
// CHECK-SAME: tensor<i1> {mp.name = "3: mp.exp at {{.*}}.mlir:[[#@LINE+10]]:8"})
func.func @step(%x: tensor<4xf16> {mp.name = "x"}, %i: tensor<4xi32>) -> (tensor<4xf16>, tensor<i32> {mp.name = "n"}) {
  // CHECK: %[[W:.*]] = mp.read @w
  // CHECK: %[[S:.*]] = mp.read @sum
  %w = mp.read @w : tensor<4xf16>
  %s = mp.read @sum : tensor<4xf16>
  %mask = mp.constant dense<[0.0, 0xFC00, 0.0, 0.0]> : tensor<4xf16>
  // CHECK: %[[A:.*]] = mp.add %[[W]],
  %a = mp.add %w, %mask : tensor<4xf16>, tensor<4xf16>
  // CHECK: %[[E:.*]] = mp.exp %[[A]]
  %e = mp.exp %a : tensor<4xf16>
  // CHECK: mp.write @sum, %[[E]]
  mp.write @sum, %e : tensor<4xf16>
  // CHECK-NOT: mp.write @w
  mp.write @w, %s : tensor<4xf16>
  %n = mp.sum %i dims[0] : tensor<4xi32>
  // CHECK: mp.is_finite %[[W]]
  // CHECK: %[[MASKED:.*]] = mp.any
  // CHECK: %[[BEFORE:.*]] = mp.or
  // CHECK: %[[SANE:.*]] = mp.not %[[BEFORE]]
  // CHECK: mp.and %{{.*}}, %[[SANE]]
  return %e, %n : tensor<4xf16>, tensor<i32>
}
