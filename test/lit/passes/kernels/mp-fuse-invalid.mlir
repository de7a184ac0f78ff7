// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' -verify-diagnostics -split-input-file

// expected-error@+1 {{'func.func' op has control flow, which kernels are not made of}}
func.func @control_flow(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
^other:
  return %x : tensor<4xf32>
}

// -----

func.func @foreign(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'arith.addf' op is not an op of the mp dialect}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @batch(%x: tensor<?xf32>) -> tensor<f32> {
  // expected-error@+1 {{'mp.sum' op 'tensor<?xf32>' has a '?': run mp-specialize before mp-fuse}}
  %0 = mp.sum %x dims[0] : tensor<?xf32>
  return %0 : tensor<f32>
}

// -----

func.func @beside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mp.kernel(%a = %x : tensor<4xf32>) attributes {ops = "exp"} -> tensor<4xf32> {
    %1 = mp.exp %a : tensor<4xf32>
    mp.yield %1 : tensor<4xf32>
  }
  // expected-error@+1 {{'mp.neg' op stands beside kernels: mp-fuse runs once, on a function that has none}}
  %2 = mp.neg %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
