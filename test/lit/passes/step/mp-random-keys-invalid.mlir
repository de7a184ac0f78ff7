// RUN: mp-opt %s -mp-random-keys -split-input-file -verify-diagnostics

// expected-error@+1 {{has the name of the variable that holds the seed, which is 'tensor<i64>': give it another one}}
mp.variable @random.seed : tensor<4xf32> = #mp.init<zeros>
func.func @f() -> tensor<4xf32> {
  %0 = mp.normal stream(2) : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = mp.loop @body carried(%x : tensor<4xf32>) rounds(3) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{draws the same in each round of a loop: run mp-number-streams before mp-outline-loops}}
  %y = mp.dropout %x stream(3) : tensor<4xf32>
  return %y : tensor<4xf32>
}
