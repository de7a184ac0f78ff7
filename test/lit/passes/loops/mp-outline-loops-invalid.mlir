// RUN: mp-opt %s --mp-outline-loops -split-input-file -verify-diagnostics

func.func @draws(%x: tensor<4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{'mp.scan' op cannot be a loop: its random ops lack the time step that mp-number-streams gives; mp-unroll-scans replaces such scans}}
  %r = mp.scan length(3) -> tensor<3x4xf32> {
    %y = mp.dropout %x stream(7) : tensor<4xf32>
    mp.yield %y : tensor<4xf32>
  }
  return %r : tensor<3x4xf32>
}

// -----

func.func @batch(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{'mp.scan' op 'tensor<?x4xf32>' has a '?': run mp-specialize before}}
  %r = mp.scan carried(%h = %x : tensor<?x4xf32>) length(3) -> tensor<?x4xf32> {
    %y = mp.relu %h : tensor<?x4xf32>
    mp.yield %y : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}

// -----

func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mp.scan' op cannot be a loop: it has no time step; mp-unroll-scans replaces such scans}}
  %r = mp.scan carried(%h = %x : tensor<4xf32>) length(0) -> tensor<4xf32> {
    %y = mp.relu %h : tensor<4xf32>
    mp.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
