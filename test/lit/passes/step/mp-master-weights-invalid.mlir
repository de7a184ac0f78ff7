// RUN: mp-opt %s -mp-master-weights -verify-diagnostics -split-input-file

// expected-error@+1 {{'func.func' op has the name of the function that computes derived variables: give it another one}}
func.func @derive(%x: tensor<4xf32>) {
  return
}

// -----

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
// expected-error@+1 {{'func.func' op has the name of the function that computes derived variables: give it another one}}
func.func @derive() {
  %0 = mp.read @w : tensor<4xf32>
  mp.write @w, %0 : tensor<4xf32>
  return
}
