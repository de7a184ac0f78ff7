// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// Arguments equal to their defaults are left out.
// CHECK-LABEL: @attributes
func.func private @attributes() attributes {
  // CHECK-SAME: a = #mp.constant, b = #mp.linear, c = #mp.linear<from = 2.500000e-01, to = 1, steps = 100>
  a = #mp.constant, b = #mp.linear<>, c = #mp.linear<from = 0.25, to = 1, steps = 100>,
  // CHECK-SAME: d = #mp.step<step_size = 30>, e = #mp.exponential<gamma = 5.000000e-01>
  d = #mp.step<step_size = 30, gamma = 0.1>, e = #mp.exponential<gamma = 0.5>,
  // CHECK-SAME: f = #mp.cosine<to = 1.000000e-01>, g = #mp.polynomial<power = 2, steps = 7>
  f = #mp.cosine<to = 0.1>, g = #mp.polynomial<power = 2, steps = 7>,
  // CHECK-SAME: h = #mp.inverse_sqrt, i = #mp.warmup<steps = 5>
  h = #mp.inverse_sqrt<timescale = 10000>, i = #mp.warmup<steps = 5, then = #mp.constant>,
  // CHECK-SAME: j = #mp.warmup<steps = 5, from = 5.000000e-01, then = #mp.cosine<steps = 10>>
  j = #mp.warmup<then = #mp.cosine<steps = 10>, from = 0.5, steps = 5>}

// CHECK-LABEL: @factor
func.func @factor(%applied: tensor<i64>) {
  // CHECK: mp.schedule %{{.*}} by #mp.cosine<steps = 10>
  %0 = mp.schedule %applied by #mp.cosine<steps = 10>
  return
}
