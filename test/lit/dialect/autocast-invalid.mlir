// RUN: mp-opt %s -split-input-file -verify-diagnostics

func.func @type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'mp.autocast' op has dtype 'f32', expected f16, bf16 or tf32}}
  mp.autocast dtype(f32) {
  }
  return
}

// -----

func.func @results(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error@+1 {{'mp.autocast' op has results of 'tensor<4xf16>'}}
  %y = mp.autocast dtype(f16) {
    // expected-note@+1 {{and yields 'tensor<4xf32>'}}
    mp.yield %x : tensor<4xf32>
  } : tensor<4xf16>
  return %y : tensor<4xf16>
}
