// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @outside(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 2 is outside of rank 2}}
  %0 = mp.sum %x dims[2] : tensor<4x3xf32>
  return
}

// -----

func.func @below(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension -1 is outside of rank 2}}
  %0 = mp.mean %x dims[-1] : tensor<4x3xf32>
  return
}

// -----

func.func @number(%x: tensor<f32>) {
  // expected-error@+1 {{dimension 0 is outside of rank 0}}
  %0 = mp.max %x dims[0] : tensor<f32>
  return
}

// -----

func.func @order(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimensions must ascend: 1 before 0}}
  %0 = mp.min %x dims[1, 0] : tensor<4x3xf32>
  return
}

// -----

func.func @repeated(%x: tensor<4x3xi1>) {
  // expected-error@+1 {{dimensions must ascend: 1 before 1}}
  %0 = mp.any %x dims[1, 1] : tensor<4x3xi1>
  return
}

// -----

func.func @missing(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires attribute 'dims'}}
  %0 = "mp.sum"(%x) : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @mean_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 64-bit float or}}
  %0 = mp.mean %x dims[0] : tensor<4xi32>
  return
}

// -----

func.func @largest_of_nothing(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{dimension 1 of 'tensor<4x0xf32>' has no element to choose}}
  %0 = mp.max %x dims[1] : tensor<4x0xf32>
  return
}

// -----

func.func @smallest_of_nothing(%x: tensor<0x4xi32>) {
  // expected-error@+1 {{dimension 0 of 'tensor<0x4xi32>' has no element to choose}}
  %0 = mp.min %x dims[0, 1] : tensor<0x4xi32>
  return
}

// -----

func.func @index_of_nothing(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{dimension 1 of 'tensor<4x0xf32>' has no element to choose}}
  %0 = mp.argmax %x dim(1) : tensor<4x0xf32>
  return
}

// -----

func.func @index_outside(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 2 is outside of rank 2}}
  %0 = mp.argmax %x dim(2) : tensor<4x3xf32>
  return
}

// -----

func.func @index_type(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{attribute 'dtype' failed to satisfy constraint}}
  %0 = mp.argmax %x dim(1) {dtype = f32} : tensor<4x3xf32>
  return
}

// -----

func.func @index_of_flags(%x: tensor<4x3xi1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 64-bit float or}}
  %0 = mp.argmax %x dim(1) : tensor<4x3xi1>
  return
}

// -----

func.func @gradient_shape(%g: tensor<3xf32>, %x: tensor<4x3xf32>) {
  // expected-error@+1 {{gradient 'tensor<3xf32>' is not of the result's type: 'tensor<4xf32>'}}
  %0 = mp.prod_backward %g, %x dims[1] : tensor<3xf32>, tensor<4x3xf32>
  return
}
