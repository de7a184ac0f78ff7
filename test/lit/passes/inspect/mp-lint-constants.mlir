// RUN: mp-opt %s -mp-lint -verify-diagnostics -o /dev/null

// These casts stand in the text.
func.func @casts(%x: tensor<4xf16>, %y: tensor<4xbf16>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<2xf16>, tensor<4xbf16>) {
  // expected-warning@+1 {{constant 1e-09 becomes zero in f16; take it in f32 ({mp.autocast = "f32"} on the op under autocast), or scale it [lost-constant]}}
  %0 = mp.constant dense<1.0e-9> : tensor<4xf32>
  %tiny = mp.cast %0 : tensor<4xf32> to tensor<4xf16>
  %a = mp.mul %x, %tiny : tensor<4xf16>, tensor<4xf16> // expected-note {{taken here}}
  %1 = mp.constant dense<7.0e+4> : tensor<4xf32> // expected-warning {{becomes infinite in f16}}
  %large = mp.cast %1 : tensor<4xf32> to tensor<4xf16>
  %b = mp.mul %x, %large : tensor<4xf16>, tensor<4xf16> // expected-note {{taken here}}
  // expected-warning@+1 {{constant 1e-06 becomes 1.01328e-06 in f16, which is subnormal: 1.3279% off; take it in f32}}
  %2 = mp.constant dense<1.0e-6> : tensor<f32>
  %3 = mp.broadcast %2 : tensor<f32> to tensor<4xf32>
  %small = mp.cast %3 : tensor<4xf32> to tensor<4xf16>
  %c = mp.mul %x, %small : tensor<4xf16>, tensor<4xf16> // expected-note {{taken here}}
  %4 = mp.constant dense<[1.0, -7.0e+4]> : tensor<2xf32> // expected-warning {{becomes infinite in f16}}
  %d = mp.cast %4 : tensor<2xf32> to tensor<2xf16>
  // bf16 holds all of these.
  %5 = mp.constant dense<[1.0e-9, 7.0e+4, 1.0e-6, -1.0e+9]> : tensor<4xf32>
  %held = mp.cast %5 : tensor<4xf32> to tensor<4xbf16>
  %e = mp.mul %y, %held : tensor<4xbf16>, tensor<4xbf16>
  // A zero is intended, and so is an infinity.
  %6 = mp.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>
  %mask = mp.cast %6 : tensor<2xf32> to tensor<2xf16>
  return %a, %b, %c, %d, %e : tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<2xf16>, tensor<4xbf16>
}

// The constant is written in the type itself.
func.func @direct(%x: tensor<4xf16>) -> tensor<4xf16> {
  // expected-warning@+1 {{constant 1.01328e-06 is subnormal in f16, and has fewer bits than other numbers; take it in f32}}
  %0 = mp.constant dense<1.0e-6> : tensor<f16>
  %1 = mp.mul %x, %0 : tensor<4xf16>, tensor<f16> // expected-note {{taken here}}
  %2 = mp.constant dense<1.0e-4> : tensor<f16>
  %3 = mp.mul %1, %2 : tensor<4xf16>, tensor<f16>
  return %3 : tensor<4xf16>
}

func.func @epsilons(%x: tensor<4xf16>, %y: tensor<4xbf16>, %z: tensor<4xf32>) {
  %0 = mp.constant dense<1.0e-6> : tensor<f32> // expected-note {{the constant}}
  %e = mp.cast %0 : tensor<f32> to tensor<f16>
  // expected-warning@+1 {{constant 1e-06 is lost when it is added in f16 to a number of 0.00390625 or more; add it in f32, or take a larger one [lost-epsilon]}}
  %a = mp.add %x, %e : tensor<4xf16>, tensor<f16>
  %1 = mp.constant dense<2.0e-3> : tensor<bf16> // expected-note {{the constant}}
  %b = mp.add %1, %y : tensor<bf16>, tensor<4xbf16> // expected-warning {{is lost when it is added in bf16 to a number of 1 or more}}
  // It is not lost in f32, nor beside numbers that are small themselves.
  %c = mp.add %z, %0 : tensor<4xf32>, tensor<f32>
  %d = mp.clamp %x {min = 0.0, max = 1.0e-3} : tensor<4xf16>
  %f = mp.add %d, %e : tensor<4xf16>, tensor<f16>
  // Half a unit in the last place of one is not lost.
  %2 = mp.constant dense<4.8828125e-4> : tensor<f16>
  %g = mp.add %x, %2 : tensor<4xf16>, tensor<f16>
  return
}

// A norm by hand under autocast: propagated to 16 bits, or left in f32.
mp.variable @w : tensor<8x8xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<8x8xf32>
  %y = mp.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %size = mp.abs %y : tensor<?x8xf32>
  %0 = mp.constant dense<1.0e-5> : tensor<f32> // expected-note {{the constant}}
  %safe = mp.add %size, %0 : tensor<?x8xf32>, tensor<f32> // expected-warning {{constant 1e-05 is lost when it is added in f16}}
  %z = mp.linear %safe, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %l = mp.mean %z dims[0, 1] : tensor<?x8xf32>
  return %l : tensor<f32>
}
mp.scaler @scaler
// expected-note@+1 {{as @tensorflow casts it}}
mp.train @tensorflow of @loss autocast(<dtype = f16, policy = "tf-fp16">) scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }
mp.train @torch of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }
