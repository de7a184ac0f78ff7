// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @slice_rank(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{offsets has 1 entries for rank 2}}
  %0 = mp.slice %x offsets[0] sizes[4, 3] : tensor<4x3xf32>
  return
}

// -----

func.func @slice_sizes(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{sizes has 3 entries for rank 2}}
  %0 = mp.slice %x offsets[0, 0] sizes[4, 3, 1] : tensor<4x3xf32>
  return
}

// -----

func.func @slice_strides(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{strides has 1 entries for rank 2}}
  %0 = mp.slice %x offsets[0, 0] sizes[4, 3] strides[1] : tensor<4x3xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 1: stride 0 is not a count}}
  %0 = mp.slice %x offsets[0, 0] sizes[4, 3] strides[1, 0] : tensor<4x3xf32>
  return
}

// -----

func.func @slice_size(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 0: size -2 is not a count}}
  %0 = mp.slice %x offsets[0, 0] sizes[-2, 3] : tensor<4x3xf32>
  return
}

// -----

func.func @slice_offset(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 1: offset 4 is outside of 3}}
  %0 = mp.slice %x offsets[0, 4] sizes[4, 0] : tensor<4x3xf32>
  return
}

// -----

func.func @slice_many(%x: tensor<4x10xf32>) {
  // expected-error@+1 {{dimension 1: 4 elements from 2 on by 3 are not among 10}}
  %0 = mp.slice %x offsets[0, 2] sizes[4, 4] strides[1, 3] : tensor<4x10xf32>
  return
}

// -----

func.func @slice_batch(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{the batch dimension can only be taken whole: offset 1, size -1, stride 1 instead of 0, -1, 1}}
  %0 = mp.slice %x offsets[1, 0] sizes[-1, 3] : tensor<?x3xf32>
  return
}

// -----

func.func @pad_low(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{low has 1 entries for rank 2}}
  %0 = mp.pad %x low[0] high[0, 0] : tensor<4x3xf32>
  return
}

// -----

func.func @pad_high(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{high has 3 entries for rank 2}}
  %0 = mp.pad %x low[0, 0] high[0, 0, 0] : tensor<4x3xf32>
  return
}

// -----

func.func @pad_interior(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{interior has 1 entries for rank 2}}
  %0 = mp.pad %x low[0, 0] high[0, 0] interior[1] : tensor<4x3xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 1: padding -1 is negative: use mp.slice}}
  %0 = mp.pad %x low[0, -1] high[0, 0] : tensor<4x3xf32>
  return
}

// -----

func.func @pad_batch(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{the batch dimension cannot be padded: low 0, high 2, interior 0}}
  %0 = mp.pad %x low[0, 0] high[2, 0] : tensor<?x3xf32>
  return
}

// -----

func.func @pad_large(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 1 is larger than a 64-bit number counts}}
  %0 = mp.pad %x low[0, 1] high[0, 9223372036854775807] : tensor<4x3xf32>
  return
}

// -----

func.func @pad_fraction(%x: tensor<4xi32>) {
  // expected-error@+1 {{pads with 5.000000e-01, which no 'i32' is}}
  %0 = mp.pad %x low[1] high[0] value(0.5) : tensor<4xi32>
  return
}

// -----

func.func @pad_range(%x: tensor<4xui8>) {
  // expected-error@+1 {{pads with -1.000000e+00, which no 'ui8' is}}
  %0 = mp.pad %x low[1] high[0] value(-1.0) : tensor<4xui8>
  return
}

// -----

func.func @pad_flag(%x: tensor<4xi1>) {
  // expected-error@+1 {{pads with 2.000000e+00, which no 'i1' is}}
  %0 = mp.pad %x low[1] high[0] value(2.0) : tensor<4xi1>
  return
}

// -----

func.func @concat_dim(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 2 is outside of rank 2}}
  %0 = mp.concat %x, %x dim(2) : tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @concat_nothing() {
  // expected-error@+2 {{has nothing to concatenate}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "mp.concat"() <{dim = 0}> : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_elements(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{element types differ: 'f32' vs 'f16'}}
  %0 = mp.concat %x, %y dim(0) : tensor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @concat_shapes(%x: tensor<4x3xf32>, %y: tensor<5x2xf32>) {
  // expected-error@+1 {{shapes differ in more than dimension 1: 'tensor<4x3xf32>' vs 'tensor<5x2xf32>'}}
  %0 = mp.concat %x, %y dim(1) : tensor<4x3xf32>, tensor<5x2xf32>
  return
}

// -----

func.func @concat_batch(%x: tensor<?x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error@+1 {{the batch dimension cannot be concatenated: its size is not known}}
  %0 = mp.concat %x, %y dim(0) : tensor<?x3xf32>, tensor<1x3xf32>
  return
}

// -----

func.func @concat_large(%x: tensor<9223372036854775807xf32>) {
  // expected-error@+1 {{dimension 0 is larger than a 64-bit number counts}}
  %0 = mp.concat %x, %x dim(0) : tensor<9223372036854775807xf32>, tensor<9223372036854775807xf32>
  return
}

// -----

func.func @gather_dim(%t: tensor<5x3xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{dimension -1 is outside of rank 2}}
  %0 = mp.gather %t, %i dim(-1) : tensor<5x3xf32>, tensor<2xi32>
  return
}

// -----

func.func @gather_batch(%t: tensor<5x3xf32>, %i: tensor<?xi32>) {
  // expected-error@+1 {{the batch dimension would not be the leading one}}
  %0 = mp.gather %t, %i dim(1) : tensor<5x3xf32>, tensor<?xi32>
  return
}

// -----

func.func @gather_batched(%t: tensor<5x3xf32>, %i: tensor<4x2xi32>) {
  // expected-error@+1 {{indices 'tensor<4x2xi32>' do not begin with the 1 leading dimensions of 'tensor<5x3xf32>'}}
  %0 = mp.gather %t, %i dim(1) batched : tensor<5x3xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @gather_batched_rank(%t: tensor<5x2x3xf32>, %i: tensor<5xi32>) {
  // expected-error@+1 {{indices 'tensor<5xi32>' do not begin with the 2 leading dimensions of 'tensor<5x2x3xf32>'}}
  %0 = mp.gather %t, %i dim(2) batched : tensor<5x2x3xf32>, tensor<5xi32>
  return
}

// -----

func.func @gather_indices(%t: tensor<5x3xf32>, %i: tensor<2xf32>) {
  // expected-error@+1 {{ranked tensor of 32-bit signless integer or 64-bit signless integer or 8-bit unsigned integer or 16-bit unsigned integer or 32-bit unsigned integer values}}
  %0 = mp.gather %t, %i dim(0) : tensor<5x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @scatter_dim(%u: tensor<2x3xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{dimension 2 leaves no room for the dimensions of 'tensor<2xi32>' in 'tensor<2x3xf32>'}}
  %0 = mp.scatter_add %u, %i dim(2) size(4) : tensor<2x3xf32>, tensor<2xi32>
  return
}

// -----

func.func @scatter_shape(%u: tensor<2x3xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{updates 'tensor<2x3xf32>' do not have the shape of the indices 'tensor<4xi32>' from dimension 1 on}}
  %0 = mp.scatter_add %u, %i dim(1) size(4) : tensor<2x3xf32>, tensor<4xi32>
  return
}

// -----

func.func @scatter_batched(%u: tensor<2x3xf32>, %i: tensor<3x3xi32>) {
  // expected-error@+1 {{updates 'tensor<2x3xf32>' do not have the shape of the indices 'tensor<3x3xi32>' from dimension 0 on}}
  %0 = mp.scatter_add %u, %i dim(1) batched size(4) : tensor<2x3xf32>, tensor<3x3xi32>
  return
}

// -----

func.func @scatter_batched_rank(%u: tensor<2x3x4xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{dimension 2 leaves no room for the dimensions of 'tensor<2xi32>' in 'tensor<2x3x4xf32>'}}
  %0 = mp.scatter_add %u, %i dim(2) batched size(4) : tensor<2x3x4xf32>, tensor<2xi32>
  return
}

// -----

func.func @scatter_rows_indices(%r: tensor<2x3xf32>, %i: tensor<2x1xi32>, %t: tensor<9x3xf32>) {
  // expected-error@+1 {{indices 'tensor<2x1xi32>' are not of rank 1}}
  %0 = mp.scatter_rows %r, %i into %t : tensor<2x3xf32>, tensor<2x1xi32>, tensor<9x3xf32>
  return
}

// -----

func.func @scatter_rows_batch(%r: tensor<2x3xf32>, %i: tensor<2xi32>, %t: tensor<?x3xf32>) {
  // expected-error@+1 {{table 'tensor<?x3xf32>' has no known number of rows}}
  %0 = mp.scatter_rows %r, %i into %t : tensor<2x3xf32>, tensor<2xi32>, tensor<?x3xf32>
  return
}

// -----

func.func @scatter_rows_shape(%r: tensor<2x4xf32>, %i: tensor<2xi32>, %t: tensor<9x3xf32>) {
  // expected-error@+1 {{rows 'tensor<2x4xf32>' are not what replaces those of 'tensor<9x3xf32>' at 'tensor<2xi32>': 'tensor<2x3xf32>'}}
  %0 = mp.scatter_rows %r, %i into %t : tensor<2x4xf32>, tensor<2xi32>, tensor<9x3xf32>
  return
}

// -----

func.func @scatter_nowhere(%u: tensor<2x3xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{expected one of a base to add to and a size of zeros}}
  %0 = mp.scatter_add %u, %i dim(0) : tensor<2x3xf32>, tensor<2xi32>
  return
}

// -----

func.func @scatter_twice(%u: tensor<2x3xf32>, %i: tensor<2xi32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{expected one of a base to add to and a size of zeros}}
  %0 = mp.scatter_add %u, %i into %b dim(0) size(4) : tensor<2x3xf32>, tensor<2xi32>, tensor<4x3xf32>
  return
}

// -----

func.func @scatter_size(%u: tensor<2x3xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{size -4 is negative}}
  %0 = mp.scatter_add %u, %i dim(0) size(-4) : tensor<2x3xf32>, tensor<2xi32>
  return
}

// -----

func.func @scatter_base(%u: tensor<2x3xf32>, %i: tensor<2xi32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{base 'tensor<4x5xf32>' is not what updates 'tensor<2x3xf32>' can be added to: 'tensor<4x3xf32>'}}
  %0 = mp.scatter_add %u, %i into %b dim(0) : tensor<2x3xf32>, tensor<2xi32>, tensor<4x5xf32>
  return
}

// -----

func.func @one_hot_classes(%i: tensor<4xi32>) {
  // expected-error@+1 {{has 0 classes, expected a positive 32-bit number}}
  %0 = mp.one_hot %i classes(0) as f32 : tensor<4xi32>
  return
}

// -----

func.func @one_hot_element(%i: tensor<4xi32>) {
  // expected-error@+1 {{ranked tensor of 64-bit float or 32-bit float}}
  %0 = mp.one_hot %i classes(3) as i24 : tensor<4xi32>
  return
}

// -----

func.func @cumsum_dim(%x: tensor<4x3xf32>) {
  // expected-error@+1 {{dimension 3 is outside of rank 2}}
  %0 = mp.cumsum %x dim(3) : tensor<4x3xf32>
  return
}
