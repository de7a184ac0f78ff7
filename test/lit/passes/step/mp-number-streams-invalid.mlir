// RUN: mp-opt %s -mp-number-streams -split-input-file -verify-diagnostics

func.func @twice(%x: tensor<4xf32>) {
  // expected-note@+1 {{the other op}}
  %0 = mp.dropout %x stream(1) : tensor<4xf32>
  // expected-error@+1 {{'mp.uniform' op draws from stream 1, which another op has}}
  %1 = mp.uniform stream(1) : tensor<4xf32>
  return
}

// -----

func.func @large(%x: tensor<4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{'mp.dropout' op draws from stream 65541, expected one below 65536 where a scan draws random bits}}
  %y = mp.dropout %x stream(65541) : tensor<4xf32>
  %r = mp.scan length(3) -> tensor<3x4xf32> {
    // expected-note@+1 {{an op in a scan}}
    %z = mp.dropout %y stream(5) : tensor<4xf32>
    mp.yield %z : tensor<4xf32>
  }
  return %r : tensor<3x4xf32>
}

// -----

func.func @long(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = mp.scan carried(%a = %x : tensor<4xf32>) length(257) -> tensor<4xf32> {
    %s = mp.scan carried(%b = %a : tensor<4xf32>) length(256) -> tensor<4xf32> {
      // expected-error@+1 {{'mp.dropout' op draws in more than 65536 time steps}}
      %z = mp.dropout %b : tensor<4xf32>
      mp.yield %z : tensor<4xf32>
    }
    mp.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
