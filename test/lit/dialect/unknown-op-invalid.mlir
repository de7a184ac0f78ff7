// A misspelt op gets the names nearest to it, and the version of the dialect: it may belong to a newer one.
// RUN: mp-opt %s -split-input-file -verify-diagnostics

func.func @one_letter(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re@+1 {{unknown op 'mp.geluu' in mp dialect {{[0-9.]+}}, did you mean 'mp.gelu'?}}
  %y = mp.geluu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @several(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re@+1 {{unknown op 'mp.xelu' in mp dialect {{[0-9.]+}}, did you mean 'mp.elu' or 'mp.gelu' or 'mp.relu'?}}
  %y = mp.xelu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error-re@+1 {{unknown op 'mp.convolution' in mp dialect {{[0-9.]+}}, docs/dialect.md lists those there are}}
mp.convolution @c

// -----

func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mp.gelu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
