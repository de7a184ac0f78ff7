// RUN: mp-opt %s --mp-unroll-scans=all -verify-diagnostics

func.func @long(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mp.scan' op would give @long more than 100000 ops: it has 50000 time steps of some 4 ops, and is unrolled}}
  %y = mp.scan carried(%a = %x : tensor<4xf32>) length(50000) -> tensor<4xf32> {
    %b = mp.relu %a : tensor<4xf32>
    mp.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
