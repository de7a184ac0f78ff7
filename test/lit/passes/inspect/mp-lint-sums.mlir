// RUN: mp-opt %s -mp-lint -verify-diagnostics -split-input-file -o /dev/null

func.func @sums(%x: tensor<8x70000xf16>, %y: tensor<8x65000xf16>, %batch: tensor<?x4xf16>) {
  // expected-warning@+1 {{'mp.sum' may reach 70000 in f16, which ends at 65504, with numbers of unknown size taken to be at most 1; scale its operands down, or compute it in f32 ({mp.autocast = "f32"} under autocast) [sum-overflow]}}
  %0 = mp.sum %x dims[1] : tensor<8x70000xf16>
  %1 = mp.sum %y dims[1] : tensor<8x65000xf16>
  %2 = mp.mean %x dims[1] : tensor<8x70000xf16>
  %3 = mp.max %x dims[1] : tensor<8x70000xf16>
  %4 = mp.cumsum %x dim(1) : tensor<8x70000xf16> // expected-warning {{'mp.cumsum' may reach 70000}}
  // The batch may be of any size.
  %5 = mp.sum %batch dims[0] : tensor<?x4xf16>
  return
}

// -----

// Pixels unchanged, or scaled to one.
func.func @pixels(%image: tensor<?x784xui8>, %w: tensor<16x784xf16>) {
  %h = mp.cast %image : tensor<?x784xui8> to tensor<?x784xf16>
  // expected-warning@+1 {{'mp.linear' may reach 199920 in f16}}
  %0 = mp.linear %h, %w : tensor<?x784xf16>, tensor<16x784xf16>
  %white = mp.constant dense<255.0> : tensor<f16>
  %unit = mp.div %h, %white : tensor<?x784xf16>, tensor<f16>
  %1 = mp.linear %unit, %w : tensor<?x784xf16>, tensor<16x784xf16>
  // The output of a layer is of unknown size again.
  %2 = mp.matmul %1, %1 transpose_a : tensor<?x16xf16>, tensor<?x16xf16>
  // f32 sums are not rounded.
  %3 = mp.linear %h, %w out_dtype(f32) : tensor<?x784xf16>, tensor<16x784xf16>
  return
}

// -----

// A bound from the ops: no squared error is more than 255^2.
func.func @bounds(%x: tensor<4x8xf16>, %target: tensor<4x8xui8>) {
  %t = mp.cast %target : tensor<4x8xui8> to tensor<4x8xf16>
  %p = mp.sigmoid %x : tensor<4x8xf16>
  %d = mp.sub %p, %t : tensor<4x8xf16>, tensor<4x8xf16>
  %s = mp.mul %d, %d : tensor<4x8xf16>, tensor<4x8xf16>
  %0 = mp.sum %s dims[0, 1] : tensor<4x8xf16> // expected-warning {{'mp.sum' may reach 2.0778e+06 in f16}}
  // expected-warning@+1 {{'mp.mse_loss' may reach 2.0778e+06 in f16}}
  %1 = mp.mse_loss %p, %t reduction(sum) : tensor<4x8xf16>, tensor<4x8xf16>
  %2 = mp.mse_loss %p, %t : tensor<4x8xf16>, tensor<4x8xf16>
  %3 = mp.l1_loss %p, %t reduction(sum) : tensor<4x8xf16>, tensor<4x8xf16>
  return
}

// -----

// Cross entropy of f16 is small, though f16 numbers may be large.
func.func @losses(%x: tensor<8x10x8x6xf16>, %label: tensor<8x8x6xui8>) {
  %0 = mp.cross_entropy %x, %label reduction(sum) : tensor<8x10x8x6xf16>, tensor<8x8x6xui8>
  %1 = mp.cross_entropy %x, %label reduction(none) {label_smoothing = 1.0e-1} : tensor<8x10x8x6xf16>, tensor<8x8x6xui8>
  return
}

// -----

// A norm by hand: the smallest divisor tells little about a layer.
func.func @norm(%x: tensor<4x512xf16>, %w: tensor<16x512xf16>) {
  %square = mp.mul %x, %x : tensor<4x512xf16>, tensor<4x512xf16>
  %mean = mp.mean %square dims[1] keepdim : tensor<4x512xf16>
  %wide = mp.cast %mean : tensor<4x1xf16> to tensor<4x1xf32>
  %epsilon = mp.constant dense<1.0e-5> : tensor<f32>
  %safe = mp.add %wide, %epsilon : tensor<4x1xf32>, tensor<f32>
  %root = mp.rsqrt %safe : tensor<4x1xf32>
  %scale = mp.cast %root : tensor<4x1xf32> to tensor<4x1xf16>
  %y = mp.mul %x, %scale : tensor<4x512xf16>, tensor<4x1xf16>
  %0 = mp.linear %y, %w : tensor<4x512xf16>, tensor<16x512xf16>
  %n, %m, %r = mp.layer_norm %x normalized_shape[512] : tensor<4x512xf16>
  %1 = mp.linear %n, %w : tensor<4x512xf16>, tensor<16x512xf16>
  return
}

// -----

// The casts are a recipe's: policies of PyTorch sum in f32.
mp.variable @w : tensor<4x8xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x8xf32>
  %big = mp.constant dense<9000.0> : tensor<8xf32>
  %scaled = mp.mul %x, %big : tensor<?x8xf32>, tensor<8xf32>
  // expected-warning@+1 {{'mp.linear' may reach 72000 in f16}}
  %y = mp.linear %scaled, %w : tensor<?x8xf32>, tensor<4x8xf32>
  %z = mp.linear %scaled, %w {mp.autocast = "f32"} : tensor<?x8xf32>, tensor<4x8xf32>
  %s = mp.sum %y dims[1] : tensor<?x4xf32>
  %t = mp.sum %z dims[1] : tensor<?x4xf32>
  %u = mp.add %s, %t : tensor<?xf32>, tensor<?xf32>
  %l = mp.mean %u dims[0] : tensor<?xf32>
  return %l : tensor<f32>
}
mp.scaler @scaler
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

// A mean or a maximum of windows is no larger than their elements; a sum is.
func.func @windows(%x: tensor<2x8x8x70000xui8>) {
  %h = mp.cast %x : tensor<2x8x8x70000xui8> to tensor<2x8x8x70000xf16>
  %0 = mp.max_pool2d %h window[8, 8] : tensor<2x8x8x70000xf16>
  %1 = mp.avg_pool2d %h window[8, 8] : tensor<2x8x8x70000xf16>
  %2 = mp.window_sum %h size(200) low(0) : tensor<2x8x8x70000xf16>
  %3 = mp.window_sum %h size(300) low(0) : tensor<2x8x8x70000xf16> // expected-warning {{'mp.window_sum' may reach 76500 in f16}}
  return
}
