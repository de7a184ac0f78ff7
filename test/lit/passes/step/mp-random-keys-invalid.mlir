// RUN: mp-opt %s -mp-random-keys -verify-diagnostics

// expected-error@+1 {{has the name of the variable that holds the seed, which is 'tensor<i64>': give it another one}}
mp.variable @random.seed : tensor<4xf32> = #mp.init<zeros>
func.func @f() -> tensor<4xf32> {
  %0 = mp.normal stream(2) : tensor<4xf32>
  return %0 : tensor<4xf32>
}
