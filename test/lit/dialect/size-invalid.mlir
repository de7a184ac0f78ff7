// Tensors of more elements than an address space, and of more dimensions than a kernel has.
// RUN: mp-opt %s -split-input-file -verify-diagnostics

func.func @constant() {
  // expected-error@+1 {{has a tensor of more than 281474976710656 elements, 'tensor<9223372036854775807x9223372036854775807xf32>'}}
  %0 = mp.constant dense<1.0> : tensor<9223372036854775807x9223372036854775807xf32>
  return
}

// -----

// expected-error@+1 {{has a tensor of more than 281474976710656 elements}}
mp.variable @w : tensor<281474976710657xf32> = #mp.init<zeros>

// -----

func.func @input(%x: tensor<?x4294967296x4294967296xf32>) {
  // expected-error@+1 {{has a tensor of more than 281474976710656 elements}}
  %0 = mp.relu %x : tensor<?x4294967296x4294967296xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<1xf32>) {
  // expected-error@+1 {{has a tensor of more than 281474976710656 elements}}
  %0 = mp.broadcast %x : tensor<1xf32> to tensor<9223372036854775807x9223372036854775807xf32>
  return
}

// -----

func.func @inferred(%x: tensor<16777217x1xf32>, %y: tensor<1x16777217xf32>) {
  // expected-error@+1 {{has a tensor of more than 281474976710656 elements, 'tensor<16777217x16777217xf32>'}}
  %0 = mp.add %x, %y : tensor<16777217x1xf32>, tensor<1x16777217xf32>
  return
}

// -----

func.func @concat(%x: tensor<281474976710656xf32>) {
  // expected-error@+1 {{has a tensor of more than 281474976710656 elements, 'tensor<562949953421312xf32>'}}
  %0 = mp.concat %x, %x dim(0) : tensor<281474976710656xf32>, tensor<281474976710656xf32>
  return
}

// -----

// Strides of an empty tensor are products, too.
func.func @empty(%x: tensor<0x9223372036854775807x9223372036854775807xf32>) {
  // expected-error@+1 {{has a tensor of more than 281474976710656 elements}}
  %0 = mp.relu %x : tensor<0x9223372036854775807x9223372036854775807xf32>
  return
}

// -----

func.func @rank(%x: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) {
  // expected-error@+1 {{has a tensor of 33 dimensions, expected at most 32}}
  %0 = mp.relu %x : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

func.func @largest(%x: tensor<281474976710656xf32>) {
  %0 = mp.relu %x : tensor<281474976710656xf32>
  return
}
