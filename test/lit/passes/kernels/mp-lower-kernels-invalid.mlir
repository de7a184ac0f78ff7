// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-lower-kernels))' -verify-diagnostics -split-input-file

func.func @several_ops(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mp.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{'mp.softmax' op is not a stage of a kernel: run mp-fuse before mp-lower-kernels}}
    %b = mp.softmax %a dim(0) : tensor<4xf32>
    mp.yield %b : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @table(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = mp.kernel(%a = %x : tensor<2xf32>) -> tensor<2xf32> {
    // expected-error@+1 {{'mp.constant' op is not a stage of a kernel: run mp-fuse before mp-lower-kernels}}
    %c = mp.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %b = mp.add %a, %c : tensor<2xf32>, tensor<2xf32>
    mp.yield %b : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @batch(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = mp.kernel(%a = %x : tensor<?xf32>) -> tensor<?xf32> {
    // expected-error@+1 {{'mp.neg' op 'tensor<?xf32>' has no static shape: run mp-specialize before mp-lower-kernels}}
    %b = mp.neg %a : tensor<?xf32>
    mp.yield %b : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// -----

func.func @reshape(%x: tensor<4x2xf32>) -> tensor<8xf32> {
  %0 = mp.kernel(%a = %x : tensor<4x2xf32>) -> tensor<8xf32> {
    %n = mp.neg %a : tensor<4x2xf32>
    // expected-error@+1 {{'mp.reshape' op does more than add dimensions of one, which no stage does: run mp-fuse before mp-lower-kernels}}
    %r = mp.reshape %n : tensor<4x2xf32> to tensor<8xf32>
    mp.yield %r : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %b: tensor<4x1xf32>) -> tensor<4x2xf32> {
  %0 = mp.kernel(%a = %x : tensor<4x8xf32>, %c = %w : tensor<2x8xf32>, %d = %b : tensor<4x1xf32>) -> tensor<4x2xf32> {
    %y = mp.linear %a, %c : tensor<4x8xf32>, tensor<2x8xf32>
    // expected-error@+1 {{'mp.add' op broadcasts a dimension of one after an anchor: 'tensor<4x1xf32>' to 'tensor<4x2xf32>'}}
    %z = mp.add %y, %d : tensor<4x2xf32>, tensor<4x1xf32>
    mp.yield %z : tensor<4x2xf32>
  }
  return %0 : tensor<4x2xf32>
}
