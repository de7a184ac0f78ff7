// RUN: mp-opt %s -split-input-file -verify-diagnostics

func.func @length() {
  // expected-error@+1 {{'mp.scan' op runs over nothing, so it needs the number of time steps: length(5)}}
  mp.scan {
  }
  return
}

// -----

func.func @negative() {
  // expected-error@+1 {{'mp.scan' op has length -1}}
  mp.scan length(-1) {
  }
  return
}

// -----

func.func @batch(%xs: tensor<?x4xf32>) {
  // expected-error@+1 {{'mp.scan' op runs along the batch of 'tensor<?x4xf32>', but the number of time steps has to be known}}
  mp.scan over(%x = %xs : tensor<?x4xf32>) {
  }
  return
}

// -----

func.func @dimension(%xs: tensor<3x4xf32>) {
  // expected-error@+1 {{'mp.scan' op runs along dimension 2, which 'tensor<3x4xf32>' does not have}}
  mp.scan over(%x = %xs : tensor<3x4xf32>) dim(2) {
  }
  return
}

// -----

func.func @before_the_first(%xs: tensor<3x4xf32>) {
  // expected-error@+1 {{'mp.scan' op runs along dimension -1, expected one from 0 on}}
  mp.scan over(%x = %xs : tensor<3x4xf32>) dim(-1) {
  }
  return
}

// -----

func.func @sizes(%xs: tensor<3x4xf32>, %ys: tensor<2x4xf32>) {
  // expected-error@+1 {{'mp.scan' op has 3 time steps, but 'tensor<2x4xf32>' has 2 in dimension 0}}
  mp.scan over(%x = %xs : tensor<3x4xf32>, %y = %ys : tensor<2x4xf32>) {
  }
  return
}

// -----

func.func @given_size(%xs: tensor<3x4xf32>) {
  // expected-error@+1 {{'mp.scan' op has 5 time steps, but 'tensor<3x4xf32>' has 3 in dimension 0}}
  mp.scan over(%x = %xs : tensor<3x4xf32>) length(5) {
  }
  return
}

// -----

func.func @carried_type(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mp.scan' op carries 'tensor<4xf32>', and a carried value keeps its type}}
  %r = mp.scan carried(%b = %a : tensor<4xf32>) length(2) -> tensor<4xf16> {
    %c = mp.cast %b : tensor<4xf32> to tensor<4xf16>
    // expected-note@+1 {{but yields 'tensor<4xf16>'}}
    mp.yield %c : tensor<4xf16>
  }
  return
}

// -----

func.func @too_few(%a: tensor<4xf32>) {
  // expected-error@+1 {{'mp.scan' op carries 1 values and has 1 results}}
  %r = mp.scan carried(%b = %a : tensor<4xf32>) length(2) -> tensor<4xf32> {
    // expected-note@+1 {{and yields 0}}
    mp.yield
  }
  return
}

// -----

func.func @stacked_type(%xs: tensor<5x4xf32>) {
  // expected-error@+1 {{'mp.scan' op has a result of 'tensor<4xf32>', expected 'tensor<5x4xf32>'}}
  %r = mp.scan over(%x = %xs : tensor<5x4xf32>) -> tensor<4xf32> {
    mp.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @no_place_for_time(%xs: tensor<5x4xf32>) {
  // expected-error@+1 {{'mp.scan' op cannot stack 'tensor<f32>' along dimension 1}}
  %r = mp.scan over(%x = %xs : tensor<5x4xf32>) dim(1) -> tensor<f32> {
    %s = mp.sum %x dims[0] : tensor<5xf32>
    mp.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @arguments(%xs: tensor<5x4xf32>) {
  // expected-error@+1 {{'mp.scan' op gives slices of 'tensor<4xf32>' to a block argument of 'tensor<5xf32>'}}
  "mp.scan"(%xs) <{dim = 0 : i64, operandSegmentSizes = array<i32: 0, 1>}> ({
  ^bb0(%x: tensor<5xf32>):
    mp.yield
  }) : (tensor<5x4xf32>) -> ()
  return
}

// -----

mp.variable buffer @b : tensor<4xf32> = #mp.init<zeros>
func.func @writes(%xs: tensor<5x4xf32>) {
  mp.scan over(%x = %xs : tensor<5x4xf32>) {
    // expected-error@+1 {{'mp.write' op writes a variable in every time step of a scan: yield the value, and write it after the scan}}
    mp.write @b, %x : tensor<4xf32>
  }
  return
}
