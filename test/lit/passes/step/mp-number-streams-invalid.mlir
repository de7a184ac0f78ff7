// RUN: mp-opt %s -mp-number-streams -verify-diagnostics

func.func @twice(%x: tensor<4xf32>) {
  // expected-note@+1 {{the other op}}
  %0 = mp.dropout %x stream(1) : tensor<4xf32>
  // expected-error@+1 {{'mp.uniform' op draws from stream 1, which another op has}}
  %1 = mp.uniform stream(1) : tensor<4xf32>
  return
}
