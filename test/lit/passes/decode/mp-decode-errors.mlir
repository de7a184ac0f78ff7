// What cannot be computed a few tokens at a time is an error at the op.
// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-decode=tokens=2

func.func @mean(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x8xf32> {
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  // expected-error@+1 {{computes a token from others: in a model that is decoded, only causal attention and loops look at earlier tokens}}
  %m = mp.mean %e dims[1] keepdim : tensor<1x6x8xf32>
  %r = mp.sub %e, %m : tensor<1x6x8xf32>, tensor<1x1x8xf32>
  return %r : tensor<1x6x8xf32>
}

// -----

func.func @softmax(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x8xf32> {
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  %s = mp.softmax %e dim(2) : tensor<1x6x8xf32>
  // expected-error@+1 {{'mp.softmax' op computes a token from others}}
  %t = mp.softmax %s dim(1) : tensor<1x6x8xf32>
  return %t : tensor<1x6x8xf32>
}

// -----

func.func @bidirectional(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x2x4xf32> {
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  %q = mp.reshape %e : tensor<1x6x8xf32> to tensor<1x6x2x4xf32>
  // expected-error@+1 {{looks at later tokens: only causal attention can be decoded}}
  %y, %l = mp.scaled_dot_product_attention %q, %q, %q
      : tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>
  return %y : tensor<1x6x2x4xf32>
}

// -----

func.func @lengths(%x: tensor<1x6xi32>, %n: tensor<1xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x2x4xf32> {
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  %q = mp.reshape %e : tensor<1x6x8xf32> to tensor<1x6x2x4xf32>
  // expected-error@+1 {{has lengths, which decoding cannot keep}}
  %y, %l = mp.scaled_dot_product_attention %q, %q, %q lengths(%n : tensor<1xi32>) causal
      : tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>
  return %y : tensor<1x6x2x4xf32>
}

// -----

func.func @pooled(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x8xf32> {
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  // expected-error@+1 {{computes a token from others}}
  %c = mp.cumsum %e dim(1) : tensor<1x6x8xf32>
  return %c : tensor<1x6x8xf32>
}

// -----

// expected-error@+1 {{has 0 arguments of [batch, tokens] integers, expected one: name it with the option 'input'}}
func.func @pictures(%x: tensor<1x6xf32>) -> tensor<1x6xf32> {
  return %x : tensor<1x6xf32>
}

// -----

// expected-error@+1 {{has 2 arguments of [batch, tokens] integers, expected one}}
func.func @two(%x: tensor<1x6xi32>, %y: tensor<1x6xi32>) -> tensor<1x6xi32> {
  return %x : tensor<1x6xi32>
}

// -----

// expected-error@+1 {{has texts of 1 tokens, and cannot decode 2}}
func.func @short(%x: tensor<1x1xi32>) -> tensor<1x1xi32> {
  return %x : tensor<1x1xi32>
}

// -----

// expected-error@+1 {{has a batch: mp-specialize binds it}}
func.func @batch(%x: tensor<?x6xi32>) -> tensor<?x6xi32> {
  return %x : tensor<?x6xi32>
}

// -----

// expected-error@+1 {{returns 'tensor<8xf32>' as result 0, which has no dimension for tokens}}
func.func @table(%x: tensor<1x6xi32>, %table: tensor<8xf32>) -> tensor<8xf32> {
  return %table : tensor<8xf32>
}

// -----

func.func @reversed(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x8xf32> {
  %zero = mp.constant dense<0.0> : tensor<1x8xf32>
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  // expected-error@+1 {{begins with the last token: only a loop from the first on can be decoded}}
  %last, %all = mp.scan carried(%s = %zero : tensor<1x8xf32>) over(%t = %e : tensor<1x6x8xf32>) dim(1) reverse
      -> (tensor<1x8xf32>, tensor<1x6x8xf32>) {
    %sum = mp.add %s, %t : tensor<1x8xf32>, tensor<1x8xf32>
    mp.yield %sum, %sum : tensor<1x8xf32>, tensor<1x8xf32>
  }
  return %all : tensor<1x6x8xf32>
}

// -----

func.func @last(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x8xf32> {
  %zero = mp.constant dense<0.0> : tensor<1x8xf32>
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  // expected-error@+1 {{hands on what it carries after the last token}}
  %last, %all = mp.scan carried(%s = %zero : tensor<1x8xf32>) over(%t = %e : tensor<1x6x8xf32>) dim(1)
      -> (tensor<1x8xf32>, tensor<1x6x8xf32>) {
    %sum = mp.add %s, %t : tensor<1x8xf32>, tensor<1x8xf32>
    mp.yield %sum, %sum : tensor<1x8xf32>, tensor<1x8xf32>
  }
  %r = mp.reshape %last : tensor<1x8xf32> to tensor<1x1x8xf32>
  %y = mp.add %all, %r : tensor<1x6x8xf32>, tensor<1x1x8xf32>
  return %y : tensor<1x6x8xf32>
}

// -----

func.func @features(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x8xf32> {
  %zero = mp.constant dense<0.0> : tensor<1x8xf32>
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  %zeros = mp.constant dense<0.0> : tensor<1x6xf32>
  // expected-error@+1 {{runs along dimension 2, and the tokens are in dimension 1}}
  %last, %all = mp.scan carried(%s = %zeros : tensor<1x6xf32>) over(%t = %e : tensor<1x6x8xf32>) dim(2)
      -> (tensor<1x6xf32>, tensor<1x6x8xf32>) {
    %sum = mp.add %s, %t : tensor<1x6xf32>, tensor<1x6xf32>
    mp.yield %sum, %sum : tensor<1x6xf32>, tensor<1x6xf32>
  }
  return %all : tensor<1x6x8xf32>
}

// -----

func.func @carries(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x8xf32> {
  %zero = mp.constant dense<0.0> : tensor<1x8xf32>
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  // expected-error@+1 {{has all tokens in each of its time steps}}
  %last = mp.scan carried(%s = %e : tensor<1x6x8xf32>) length(3) -> tensor<1x6x8xf32> {
    %r = mp.relu %s : tensor<1x6x8xf32>
    mp.yield %r : tensor<1x6x8xf32>
  }
  return %last : tensor<1x6x8xf32>
}

// -----

// The token and the one before are not both given.
func.func @both(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x8xf32> {
  %before = mp.slice %x offsets[0, 0] sizes[1, 5] : tensor<1x6xi32>
  %given = mp.pad %before low[0, 1] high[0, 0] : tensor<1x5xi32>
  // expected-error@+1 {{computes a token from itself and from the one before}}
  %sum = mp.add %x, %given : tensor<1x6xi32>, tensor<1x6xi32>
  %e = mp.gather %table, %sum dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  return %e : tensor<1x6x8xf32>
}

// -----

func.func @twice(%x: tensor<1x6xi32>, %table: tensor<8x8xf32>) -> tensor<1x6x8xf32> {
  %before = mp.slice %x offsets[0, 0] sizes[1, 5] : tensor<1x6xi32>
  %given = mp.pad %before low[0, 1] high[0, 0] : tensor<1x5xi32>
  %earlier = mp.slice %given offsets[0, 0] sizes[1, 5] : tensor<1x6xi32>
  // expected-error@+1 {{shifts the text a second time}}
  %again = mp.pad %earlier low[0, 1] high[0, 0] : tensor<1x5xi32>
  %e = mp.gather %table, %again dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  return %e : tensor<1x6x8xf32>
}

// -----

func.func @one(%x: tensor<1x1xi32>, %table: tensor<8x8xf32>) -> tensor<1x1x2x4xf32> {
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x1xi32>
  %q = mp.reshape %e : tensor<1x1x8xf32> to tensor<1x1x2x4xf32>
  // expected-error@+1 {{is in a network of one token, which cannot write text: one that can takes two tokens or more}}
  %y, %l = mp.scaled_dot_product_attention %q, %q, %q causal
      : tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>
  return %y : tensor<1x1x2x4xf32>
}
