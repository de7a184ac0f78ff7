// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @query_rank(%q: tensor<7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{query is not [batch, tokens, heads, depth]: 'tensor<7x4x8xf32>'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @key_rank(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8x1xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{key is not [batch, tokens, heads, depth]: 'tensor<2x5x2x8x1xf32>'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x2x8x1xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @value_rank(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5xf32>) {
  // expected-error@+1 {{value is not [batch, tokens, heads, depth]: 'tensor<2x5xf32>'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5xf32>
  return
}

// -----

func.func @no_depth(%q: tensor<2x7x4x0xf32>, %k: tensor<2x5x2x0xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{query has no element in dimension 3: 'tensor<2x7x4x0xf32>'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x0xf32>, tensor<2x5x2x0xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @no_keys(%q: tensor<2x7x4x8xf32>, %k: tensor<2x0x2x8xf32>, %v: tensor<2x0x2x3xf32>) {
  // expected-error@+1 {{key has no element in dimension 1: 'tensor<2x0x2x8xf32>'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x0x2x8xf32>, tensor<2x0x2x3xf32>
  return
}

// -----

func.func @no_groups(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x0x8xf32>, %v: tensor<2x5x0x3xf32>) {
  // expected-error@+1 {{key has no element in dimension 2: 'tensor<2x5x0x8xf32>'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x0x8xf32>, tensor<2x5x0x3xf32>
  return
}

// -----

func.func @no_width(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x0xf32>) {
  // expected-error@+1 {{value has no element in dimension 3: 'tensor<2x5x2x0xf32>'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x0xf32>
  return
}

// -----

func.func @key_elements(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf16>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{element types of query and key differ: 'f32' vs 'f16'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf16>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @value_elements(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xbf16>) {
  // expected-error@+1 {{element types of query and value differ: 'f32' vs 'bf16'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xbf16>
  return
}

// -----

func.func @key_batch(%q: tensor<2x7x4x8xf32>, %k: tensor<3x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{batch sizes of query and key differ: 2 vs 3}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<3x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @value_batch(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<?x5x2x3xf32>) {
  // expected-error@+1 {{batch sizes of query and value differ: 2 vs ?}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<?x5x2x3xf32>
  return
}

// -----

func.func @keys(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x6x2x3xf32>) {
  // expected-error@+1 {{key and value differ in keys or groups: 'tensor<2x5x2x8xf32>' vs 'tensor<2x6x2x3xf32>'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x6x2x3xf32>
  return
}

// -----

func.func @groups(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x4x3xf32>) {
  // expected-error@+1 {{key and value differ in keys or groups: 'tensor<2x5x2x8xf32>' vs 'tensor<2x5x4x3xf32>'}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x4x3xf32>
  return
}

// -----

func.func @depth(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x9xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{depths of query and key differ: 8 vs 9}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x2x9xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @heads(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x3x8xf32>, %v: tensor<2x5x3x3xf32>) {
  // expected-error@+1 {{4 heads are not a multiple of 3 groups}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v : tensor<2x7x4x8xf32>, tensor<2x5x3x8xf32>, tensor<2x5x3x3xf32>
  return
}

// -----

func.func @mask_keys(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<7x4xi1>) {
  // expected-error@+1 {{mask 'tensor<7x4xi1>' does not broadcast to 2x4x7x5 (batch, heads, tokens, keys)}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v mask(%m : tensor<7x4xi1>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @mask_groups(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<2x2x7x5xf32>) {
  // expected-error@+1 {{mask 'tensor<2x2x7x5xf32>' does not broadcast to 2x4x7x5 (batch, heads, tokens, keys)}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v mask(%m : tensor<2x2x7x5xf32>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @mask_rank(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<1x2x4x7x5xf32>) {
  // expected-error@+1 {{mask 'tensor<1x2x4x7x5xf32>' does not broadcast to 2x4x7x5 (batch, heads, tokens, keys)}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v mask(%m : tensor<1x2x4x7x5xf32>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @mask_batch(%q: tensor<?x7x4x8xf32>, %k: tensor<?x5x2x8xf32>, %v: tensor<?x5x2x3xf32>, %m: tensor<2x1x7x5xi1>) {
  // expected-error@+1 {{mask 'tensor<2x1x7x5xi1>' does not broadcast to ?x4x7x5 (batch, heads, tokens, keys)}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v mask(%m : tensor<2x1x7x5xi1>) : tensor<?x7x4x8xf32>, tensor<?x5x2x8xf32>, tensor<?x5x2x3xf32>
  return
}

// -----

func.func @lengths_count(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<3xi32>) {
  // expected-error@+1 {{lengths 'tensor<3xi32>' is not one number for each batch entry: 2}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v lengths(%m : tensor<3xi32>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @lengths_rank(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<2x1xi64>) {
  // expected-error@+1 {{lengths 'tensor<2x1xi64>' is not one number for each batch entry: 2}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v lengths(%m : tensor<2x1xi64>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @slopes_count(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<2xf32>) {
  // expected-error@+1 {{slopes 'tensor<2xf32>' is not one number for each head: 4}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v slopes(%m : tensor<2xf32>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @slopes_rank(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<f32>) {
  // expected-error@+1 {{slopes 'tensor<f32>' is not one number for each head: 4}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v slopes(%m : tensor<f32>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @window(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{window is 0, expected a number from 1 to 536870912}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v window(0) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @negative_window(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{window is -3, expected a number from 1 to 536870912}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v causal window(-3) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @mask_elements(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<7x5xi32>) {
  // expected-error@+1 {{operand #3 must be }}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v mask(%m : tensor<7x5xi32>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @lengths_elements(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<2xf32>) {
  // expected-error@+1 {{operand #3 must be }}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v lengths(%m : tensor<2xf32>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @slopes_elements(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %m: tensor<4xbf16>) {
  // expected-error@+1 {{operand #3 must be }}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v slopes(%m : tensor<4xbf16>) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @gradient(%g: tensor<2x7x4x8xf32>, %q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %l: tensor<2x7x4xf32>, %d: tensor<2x7x4xf32>) {
  // expected-error@+1 {{gradient is 'tensor<2x7x4x8xf32>', expected 'tensor<2x7x4x3xf32>'}}
  %0:3 = mp.scaled_dot_product_attention_backward %g, %q, %k, %v, %l, %d : tensor<2x7x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>
  return
}

// -----

func.func @log_sum_exp(%g: tensor<2x7x4x3xf32>, %q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %l: tensor<2x4x7xf32>, %d: tensor<2x7x4xf32>) {
  // expected-error@+1 {{log_sum_exp is 'tensor<2x4x7xf32>', expected 'tensor<2x7x4xf32>'}}
  %0:3 = mp.scaled_dot_product_attention_backward %g, %q, %k, %v, %l, %d : tensor<2x7x4x3xf32>, tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>, tensor<2x4x7xf32>, tensor<2x7x4xf32>
  return
}

// -----

func.func @delta(%g: tensor<2x7x4x3xf32>, %q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %l: tensor<2x7x4xf32>, %d: tensor<2x7x4xf64>) {
  // expected-error@+1 {{delta is 'tensor<2x7x4xf64>', expected 'tensor<2x7x4xf32>'}}
  %0:3 = mp.scaled_dot_product_attention_backward %g, %q, %k, %v, %l, %d : tensor<2x7x4x3xf32>, tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf64>
  return
}

// -----

func.func @backward_depth(%g: tensor<2x7x4x3xf32>, %q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x9xf32>, %v: tensor<2x5x2x3xf32>, %l: tensor<2x7x4xf32>, %d: tensor<2x7x4xf32>) {
  // expected-error@+1 {{depths of query and key differ: 8 vs 9}}
  %0:3 = mp.scaled_dot_product_attention_backward %g, %q, %k, %v, %l, %d : tensor<2x7x4x3xf32>, tensor<2x7x4x8xf32>, tensor<2x5x2x9xf32>, tensor<2x5x2x3xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>
  return
}

// -----

func.func @far_window(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{window is 9223372036854775807, expected a number from 1 to 536870912}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v window(9223372036854775807) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @far_offset(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{query_offset is -536870913, expected a number from -536870912 to 536870912}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v causal query_offset(-536870913) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @far_after(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+1 {{query_offset is 536870913, expected a number from -536870912 to 536870912}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v query_offset(536870913) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @scale(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+2 {{scale is nan, expected a finite number}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v {scale = 0x7FF8000000000000 : f64} : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @probability(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  %key = mp.random_key
  // expected-error@+1 {{dropout_p is 1.500000e+00, expected 0 to 1}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v dropout(%key, 1.5) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}

// -----

func.func @no_key(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>) {
  // expected-error@+2 {{dropout_p needs a dropout key}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = "mp.scaled_dot_product_attention"(%q, %k, %v) <{dropout_p = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}> : (tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>) -> (tensor<2x7x4x3xf32>, tensor<2x7x4xf32>)
  return
}

// -----

func.func @foreign_key(%q: tensor<2x7x4x8xf32>, %k: tensor<2x5x2x8xf32>, %v: tensor<2x5x2x3xf32>, %s: tensor<4xf32>, %key: tensor<4xi64>) {
  // expected-error@+1 {{with float mask or slopes takes a dropout key of mp.random_key in its function}}
  %0:2 = mp.scaled_dot_product_attention %q, %k, %v slopes(%s : tensor<4xf32>) dropout(%key, 0.5) : tensor<2x7x4x8xf32>, tensor<2x5x2x8xf32>, tensor<2x5x2x3xf32>
  return
}
