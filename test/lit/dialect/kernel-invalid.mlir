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

// -----

func.func @too_far(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'mp.part' op 'tensor<4x4xf32, #mp.rows<count = 4, stride = 8>>' at 5 does not lie within 'tensor<4x8xf32>'}}
  %p = mp.part %x at 5 : tensor<4x8xf32> to tensor<4x4xf32, #mp.rows<count = 4, stride = 8>>
  return
}

// -----

func.func @element_type(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'mp.part' op has elements of 'f16' in a tensor of 'f32'}}
  %p = mp.part %x at 0 : tensor<4x8xf32> to tensor<4xf16>
  return
}

// -----

func.func @alignment(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'mp.part' op 2 is no multiple of 4, as the layout says}}
  %p = mp.part %x at 2 : tensor<4x8xf32> to tensor<4x4xf32, #mp.rows<count = 4, stride = 8, aligned = 4>>
  return
}

// -----

// expected-error@+1 {{8 elements are not 3 rows of as many each}}
func.func private @rows(tensor<8xf32, #mp.rows<count = 3, stride = 8>>)

// -----

// expected-error@+1 {{rows of 4 elements overlap at a stride of 3}}
func.func private @overlap(tensor<8xf32, #mp.rows<count = 2, stride = 3>>)

// -----

// expected-error@+1 {{aligned is 3, expected a power of two that divides the stride}}
func.func private @power(tensor<8xf32, #mp.rows<count = 2, stride = 6, aligned = 3>>)

// -----

// expected-error@+1 {{2 rows at a stride of 9223372036854775807 are too far apart}}
func.func private @distance(tensor<8xf32, #mp.rows<count = 2, stride = 9223372036854775807>>)

// -----

// expected-error@+1 {{a layout wants a shape without '?'}}
func.func private @dynamic(tensor<?xf32, #mp.rows<count = 2, stride = 6>>)

// -----

func.func @layout(%x: tensor<8xf32, #mp.rows<count = 2, stride = 6>>) {
  // expected-error@+1 {{'mp.neg' op has a tensor with a layout, 'tensor<8xf32, #mp.rows<count = 2, stride = 6>>', which only kernels take and make}}
  %n = mp.neg %x : tensor<8xf32, #mp.rows<count = 2, stride = 6>>
  return
}

// -----

func.func @no_kernel(%x: tensor<4xf32>) {
  // expected-error@+1 {{'mp.assemble' op wants parts that kernels have written}}
  %a = mp.assemble %x at [0] : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

func.func @too_few(%x: tensor<4xf32>) {
  %k = mp.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    mp.yield %a : tensor<4xf32>
  }
  // expected-error@+1 {{'mp.assemble' op has parts of 4 elements for 'tensor<5xf32>'}}
  %a = mp.assemble %k at [0] : tensor<4xf32> to tensor<5xf32>
  return
}

// -----

func.func @twice(%x: tensor<4xf32>) {
  %k = mp.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    mp.yield %a : tensor<4xf32>
  }
  // expected-error@+1 {{'mp.assemble' op shares a part with another one}}
  %a = mp.assemble %k, %k at [0, 4] : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  return
}

// -----

func.func @offsets(%x: tensor<4xf32>) {
  %k = mp.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    mp.yield %a : tensor<4xf32>
  }
  // expected-error@+1 {{'mp.assemble' op has 2 offsets for 1 parts}}
  %a = mp.assemble %k at [0, 4] : tensor<4xf32> to tensor<4xf32>
  return
}
