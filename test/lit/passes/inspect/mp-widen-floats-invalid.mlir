// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-widen-floats))' -verify-diagnostics -split-input-file -o - | FileCheck %s

// An op that does not take f64 computes as before, with a warning.
// CHECK-LABEL: @narrow
func.func @narrow(%x: tensor<4xf32>) -> tensor<4xf16> {
  // CHECK: %[[Y:.*]] = mp.add
  %y = mp.add %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: %[[N:.*]] = mp.cast %[[Y]] : tensor<4xf64> to tensor<4xf32>
  // CHECK: %[[R:.*]] = mp.stochastic_round %[[N]] : tensor<4xf32> to tensor<4xf16>
  // CHECK: mp.cast %[[R]] : tensor<4xf16> to tensor<4xf64>
  // expected-warning@+1 {{mp.stochastic_round takes no f64 and keeps its types in what others are compared with}}
  %r = mp.stochastic_round %y : tensor<4xf32> to tensor<4xf16>
  return %r : tensor<4xf16>
}

// -----

// expected-error@+1 {{'func.func' op has control flow, which is not widened}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
^unreachable:
  return %x : tensor<4xf32>
}

// -----

func.func @region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{mp-autocast has to take the region away first}}
  %y = mp.autocast enabled(false) {
    %e = mp.exp %x : tensor<4xf32>
    mp.yield %e : tensor<4xf32>
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}
