// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @shapes(%x: tensor<4x3xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{shapes do not broadcast: 'tensor<4x3xf32>' vs 'tensor<4xf32>'}}
  %0 = mp.add %x, %y : tensor<4x3xf32>, tensor<4xf32>
  return
}

// -----

// The size of the batch is not known yet.
func.func @batch(%x: tensor<?xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{shapes do not broadcast: 'tensor<?xf32>' vs 'tensor<4xf32>'}}
  %0 = mp.mul %x, %y : tensor<?xf32>, tensor<4xf32>
  return
}

// -----

func.func @elements(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.sub %x, %y : tensor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @condition(%f: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{shapes do not broadcast: 'tensor<3xi1>' vs 'tensor<4xf32>'}}
  %0 = mp.select %f, %x, %x : tensor<3xi1>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @relation(%x: tensor<4xf32>) {
  // expected-error@+2 {{expected ::mp::Comparison to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error@+1 {{failed to parse}}
  %0 = mp.compare above %x, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @iota() {
  // expected-error@+1 {{dimension 1 is outside of rank 1}}
  %0 = mp.iota dim(1) : tensor<4xi32>
  return
}

// -----

func.func @iota_of_number() {
  // expected-error@+1 {{dimension 0 is outside of rank 0}}
  %0 = mp.iota dim(0) : tensor<i32>
  return
}

// -----

func.func @iota_below() {
  // expected-error@+1 {{dimension -1 is outside of rank 1}}
  %0 = mp.iota dim(-1) : tensor<4xi32>
  return
}

// -----

func.func @vector() {
  // expected-error@+1 {{result #0 must be ranked tensor}}
  %0 = mp.constant dense<1.0> : vector<2xf32>
  return
}

// -----

func.func @constant_shape() {
  // expected-error@+1 {{failed to verify that all of {value, result} have same type}}
  %0 = "mp.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @operands(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 2 operands, but found 1}}
  %0 = "mp.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// A misspelt attribute would have no effect.
func.func @unknown_attribute(%x: tensor<4xf32>) {
  // expected-error@+1 {{'mp.neg' op unknown attribute 'fast', expected none}}
  %0 = mp.neg %x {fast} : tensor<4xf32>
  return
}
