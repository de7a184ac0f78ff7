// RUN: mp-opt %s -mp-lint -verify-diagnostics -o /dev/null
// RUN: mp-opt %s -mp-lint=batch=6 -verify-diagnostics -o /dev/null

func.func @naive(%x: tensor<?x10xf32>) -> tensor<?x10xf32> {
  // expected-warning@+1 {{'mp.exp' of numbers up to 3.40282e+38 overflows f32, which ends at 3.40282e+38, and is summed; subtract the largest number along the summed dimensions first (mp.max), or take mp.softmax or mp.logsumexp, which do [softmax-without-max]}}
  %e = mp.exp %x : tensor<?x10xf32>
  %s = mp.sum %e dims[1] keepdim : tensor<?x10xf32> // expected-note {{summed here}}
  %p = mp.div %e, %s : tensor<?x10xf32>, tensor<?x1xf32>
  return %p : tensor<?x10xf32>
}

// The largest of other numbers, or along another dimension, bounds nothing.
func.func @wrong(%x: tensor<10x10xf32>, %y: tensor<10x10xf32>) {
  %m = mp.max %y dims[1] keepdim : tensor<10x10xf32>
  %d = mp.sub %x, %m : tensor<10x10xf32>, tensor<10x1xf32>
  %e = mp.exp %d : tensor<10x10xf32> // expected-warning {{[exp-overflow]}}
  %rows = mp.max %x dims[1] : tensor<10x10xf32>
  %d2 = mp.sub %x, %rows : tensor<10x10xf32>, tensor<10xf32>
  %e2 = mp.exp %d2 : tensor<10x10xf32> // expected-warning {{[exp-overflow]}}
  %m3 = mp.min %x dims[1] keepdim : tensor<10x10xf32>
  %d3 = mp.sub %x, %m3 : tensor<10x10xf32>, tensor<10x1xf32>
  %e3 = mp.exp %d3 : tensor<10x10xf32> // expected-warning {{[exp-overflow]}}
  return
}

// The softmax is stable by hand; its result is at most one, for later ops too.
func.func @stable(%x: tensor<?x10xf32>) -> tensor<?x10xf32> {
  %m = mp.max %x dims[1] keepdim : tensor<?x10xf32>
  %fixed = mp.stop_gradient %m : tensor<?x1xf32>
  %d = mp.sub %x, %fixed : tensor<?x10xf32>, tensor<?x1xf32>
  %e = mp.exp %d : tensor<?x10xf32>
  %s = mp.sum %e dims[1] keepdim : tensor<?x10xf32>
  %p = mp.div %e, %s : tensor<?x10xf32>, tensor<?x1xf32>
  %again = mp.exp %p : tensor<?x10xf32>
  return %again : tensor<?x10xf32>
}

// The same in f16, with the dimension dropped, and the exponential in f32.
func.func @half(%x: tensor<2x3x10xf16>) -> tensor<2x3x10xf32> {
  %m = mp.max %x dims[2] : tensor<2x3x10xf16>
  %k = mp.reshape %m : tensor<2x3xf16> to tensor<2x3x1xf16>
  %d = mp.sub %x, %k : tensor<2x3x10xf16>, tensor<2x3x1xf16>
  %w = mp.cast %d : tensor<2x3x10xf16> to tensor<2x3x10xf32>
  %e = mp.exp %w : tensor<2x3x10xf32>
  return %e : tensor<2x3x10xf32>
}

// The maximum is repeated by hand: along the rows, or along the columns, which are other numbers.
func.func @repeated(%x: tensor<10x10xf32>) {
  %m = mp.max %x dims[1] keepdim : tensor<10x10xf32>
  %r = mp.broadcast %m : tensor<10x1xf32> to tensor<10x10xf32>
  %d = mp.sub %x, %r : tensor<10x10xf32>, tensor<10x10xf32>
  %e = mp.exp %d : tensor<10x10xf32>
  %n = mp.max %x dims[1] : tensor<10x10xf32>
  %s = mp.broadcast %n : tensor<10xf32> to tensor<10x10xf32>
  %d2 = mp.sub %x, %s : tensor<10x10xf32>, tensor<10x10xf32>
  %e2 = mp.exp %d2 : tensor<10x10xf32> // expected-warning {{[exp-overflow]}}
  return
}

// The dialect's own ops subtract it, and their results are bounded.
func.func @ops(%x: tensor<?x10xf32>, %label: tensor<?xui8>) {
  %p = mp.softmax %x dim(1) : tensor<?x10xf32>
  %a = mp.exp %p : tensor<?x10xf32>
  %l = mp.log_softmax %x dim(1) : tensor<?x10xf32>
  %b = mp.exp %l : tensor<?x10xf32>
  %s = mp.logsumexp %x dims[1] keepdim : tensor<?x10xf32>
  %d = mp.sub %x, %s : tensor<?x10xf32>, tensor<?x1xf32>
  %c = mp.exp %d : tensor<?x10xf32>
  %loss = mp.cross_entropy %x, %label : tensor<?x10xf32>, tensor<?xui8>
  return
}
