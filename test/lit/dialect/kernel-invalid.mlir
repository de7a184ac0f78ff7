// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{'mp.kernel' op has 1 inputs but 0 block arguments}}
  "mp.kernel"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
    mp.yield
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @bytes(%x: tensor<4xf32>) {
  // expected-error@+1 {{gives 'tensor<4xf32>' to a block argument of 'tensor<3xf32>'}}
  mp.kernel(%a = %x : tensor<4xf32> as tensor<3xf32>) {
  }
  return
}

// -----

func.func @number(%x: tensor<f32>) {
  // expected-error@+1 {{gives 'tensor<f32>' to a block argument of 'f32'}}
  mp.kernel(%a = %x : tensor<f32> as f32) {
  }
  return
}

// -----

func.func @element(%x: tensor<4xui8>) {
  // expected-error@+1 {{gives 'tensor<4xui8>' to a block argument of 'tensor<4xi1>'}}
  mp.kernel(%a = %x : tensor<4xui8> as tensor<4xi1>) {
  }
  return
}

// -----

func.func @count(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mp.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{'mp.yield' op yields 2 values for 1 results}}
    mp.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @result(%x: tensor<4xf32>) -> tensor<4xf16> {
  %0 = mp.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf16> {
    // expected-error@+1 {{'mp.yield' op yields 'tensor<4xf32>' as a result of 'tensor<4xf16>'}}
    mp.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf16>
}

// -----

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @variables(%x: tensor<4xf32>) {
  mp.kernel(%a = %x : tensor<4xf32>) {
    // expected-error@+1 {{'mp.write' op stands in a kernel, which takes values and knows no variables}}
    mp.write @w, %a : tensor<4xf32>
  }
  return
}

// -----

func.func @outside(%x: tensor<4xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  mp.kernel(%a = %x : tensor<4xf32>) {
    // expected-error@+1 {{'mp.neg' op using value defined outside the region}}
    %n = mp.neg %x : tensor<4xf32>
  }
  return
}

// -----

func.func @ops() {
  // expected-error@+1 {{ops is 4 : i64, expected a string}}
  mp.kernel() attributes {ops = 4} {
  }
  return
}

// -----

func.func @unknown_attribute() {
  // expected-error@+1 {{'mp.kernel' op unknown attribute 'op', expected ops}}
  mp.kernel() attributes {op = "exp"} {
  }
  return
}

// -----

func.func @yield() {
  // expected-error@+1 {{'mp.yield' op expects parent op to be one of 'mp.kernel, mp.autocast, mp.scan'}}
  mp.yield
}
