// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @contraction(%x: tensor<2x4xf32>, %w: tensor<5x3xf32>) {
  // expected-error@+1 {{contracting dimensions differ: 4 vs 3}}
  %0 = mp.linear %x, %w : tensor<2x4xf32>, tensor<5x3xf32>
  return
}

// -----

func.func @number(%x: tensor<f32>, %w: tensor<5x3xf32>) {
  // expected-error@+1 {{input has no dimension to contract: 'tensor<f32>'}}
  %0 = mp.linear %x, %w : tensor<f32>, tensor<5x3xf32>
  return
}

// -----

func.func @weight(%x: tensor<4xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{weight is not a matrix: 'tensor<4xf32>'}}
  %0 = mp.linear %x, %w : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @bias(%x: tensor<2x4xf32>, %w: tensor<5x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{bias 'tensor<4xf32>' does not have the weight's 5 rows}}
  %0 = mp.linear %x, %w, %b : tensor<2x4xf32>, tensor<5x4xf32>, tensor<4xf32>
  return
}

// -----

func.func @elements(%x: tensor<2x4xf32>, %w: tensor<5x4xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.linear %x, %w : tensor<2x4xf32>, tensor<5x4xf16>
  return
}

// -----

func.func @matmul_contraction(%a: tensor<2x4xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{contracting dimensions differ: 4 vs 5}}
  %0 = mp.matmul %a, %b transpose_b : tensor<2x4xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @matmul_rank(%a: tensor<4xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{operands must be matrices: 'tensor<4xf32>' and 'tensor<4x5xf32>'}}
  %0 = mp.matmul %a, %b : tensor<4xf32>, tensor<4x5xf32>
  return
}

// -----

func.func @matmul_batch(%a: tensor<2x3x4xf32>, %b: tensor<3x4x5xf32>) {
  // expected-error@+1 {{batch dimensions differ: 'tensor<2x3x4xf32>' vs 'tensor<3x4x5xf32>'}}
  %0 = mp.matmul %a, %b : tensor<2x3x4xf32>, tensor<3x4x5xf32>
  return
}

// -----

func.func @matmul_elements(%a: tensor<3x4xbf16>, %b: tensor<4x5xf16>) {
  // expected-error@+1 {{element types differ: 'bf16' vs 'f16'}}
  %0 = mp.matmul %a, %b : tensor<3x4xbf16>, tensor<4x5xf16>
  return
}

// -----

func.func @unknown_attribute(%a: tensor<3x4xf16>, %b: tensor<5x4xf16>) {
  // expected-error@+1 {{'mp.matmul' op unknown attribute 'transposeB', expected compute, out_dtype, transpose_a, transpose_b}}
  %0 = "mp.matmul"(%a, %b) <{transpose_b}> {transposeB} : (tensor<3x4xf16>, tensor<5x4xf16>) -> tensor<3x5xf16>
  return
}

// -----

func.func @compute_type(%x: tensor<3x4xf32>, %w: tensor<2x4xf32>) {
  // expected-error @below {{computes in 'f16', expected tf32}}
  %y = mp.linear %x, %w {compute = f16} : tensor<3x4xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @compute_in_tf32(%x: tensor<3x4xf16>, %w: tensor<4x2xf16>) {
  // expected-error @below {{computes in tf32, which is for f32 operands, not 'f16'}}
  %y = mp.matmul %x, %w {compute = tf32} : tensor<3x4xf16>, tensor<4x2xf16>
  return
}

// -----

func.func @out_dtype_type(%x: tensor<3x4xf16>, %w: tensor<4x2xf16>) {
  // expected-error @below {{has out_dtype 'bf16', expected f32}}
  %y = mp.matmul %x, %w out_dtype(bf16) : tensor<3x4xf16>, tensor<4x2xf16>
  return
}

// -----

func.func @out_dtype_of_f32(%x: tensor<3x4xf32>, %w: tensor<4x2xf32>) {
  // expected-error @below {{has out_dtype f32, which is for operands of 16 bits or 8, not 'f32'}}
  %y = mp.matmul %x, %w out_dtype(f32) : tensor<3x4xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @bias_of_float8(%x: tensor<3x4xf8E4M3FN>, %w: tensor<2x4xf8E5M2>, %b: tensor<2xbf16>) {
  // expected-error @below {{element types differ: 'f32' vs 'bf16'}}
  %y = mp.linear %x, %w, %b : tensor<3x4xf8E4M3FN>, tensor<2x4xf8E5M2>, tensor<2xbf16>
  return
}

// -----

func.func @float8_and_16(%x: tensor<3x4xf8E4M3FN>, %w: tensor<2x4xbf16>) {
  // expected-error @below {{element types differ: 'f8E4M3FN' vs 'bf16'}}
  %y = mp.linear %x, %w : tensor<3x4xf8E4M3FN>, tensor<2x4xbf16>
  return
}

// -----

func.func @batch_as_depth(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) {
  // expected-error@+1 {{contracting dimensions differ: 3 vs ?}}
  %0 = mp.matmul %x, %y : tensor<?x3xf32>, tensor<?x3xf32>
  return
}
